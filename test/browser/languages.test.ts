import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { assertFits } from "./fits.ts";
import { desktop, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();
const { admin } = await makeWorkspace(app.db);
const { recordingId } = await makeRecording(app, admin.token, { title: "Budget" });
await call(app, "DELETE", `/_/api/v1/recordings/${recordingId}`, undefined, {
  version: null,
  token: admin.token,
});

for (const [locale, direction, heading] of [
  ["en-XA", "ltr", "Ţŕášĥ~~"],
  ["ar-XB", "rtl", "\u202eTrash\u202c"],
] as const)
  test(`${locale}: texts of the pseudo-locale, ${direction}, fit on phone and laptop`, async () => {
    for (const size of [phone, desktop]) {
      const { page, context, complaints } = await visit(app, "/trash", { userId: admin.id, size, locale });
      await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
      assert.equal(await page.evaluate("document.documentElement.dir"), direction);
      assert.equal(await page.evaluate("document.documentElement.lang"), locale);
      await page.getByText("Budget").waitFor();
      await assertFits(page, `${locale} ${size.width}`);
      assert.deepEqual(complaints, []);
      if (process.env.SCREENSHOTS !== undefined)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/trash-${locale}-${size.width}.png` });
      await context.close();
    }
  });

test("a browser in a language that isn't offered shows English, and says so to screen readers", async () => {
  const { page, context } = await visit(app, "/trash", { userId: admin.id, locale: "nl-NL" });
  await page.getByRole("heading", { level: 1, name: "Trash", exact: true }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "en");
  await context.close();
});
