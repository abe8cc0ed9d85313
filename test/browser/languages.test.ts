import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { assertFits } from "./fits.ts";
import { desktop, phone, startBrowserApp, visit } from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const { admin } = workspace;
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

test("another language is shown without a reload, and what was typed stays; the account has it in every browser", async () => {
  const user = await makeUser(app.db, workspace);
  const { page, context } = await visit(app, "/settings", { userId: user.id, locale: "en-XA" });
  const select = (label: string) => page.getByRole("combobox", { name: label, exact: true });
  await select("Ļáñĝúáĝé~~~~").waitFor();
  const name = page.locator("input[autocomplete=name]");
  await page.evaluate("window.isSameDocument = true");
  await name.fill("Half a na");

  await select("Ļáñĝúáĝé~~~~").click();
  await page.getByRole("option", { name: "English", exact: true }).click();
  await select("Language").waitFor();
  await page.getByRole("navigation", { name: "Main", exact: true }).waitFor();
  assert.equal(await page.evaluate("document.documentElement.lang"), "en");
  assert.equal(await name.inputValue(), "Half a na");

  await select("Language").click();
  await page.getByRole("option", { name: "ar-XB", exact: true }).click();
  await select("\u202eLanguage\u202c").waitFor();
  assert.equal(await page.evaluate("document.documentElement.dir"), "rtl");
  assert.equal(await name.inputValue(), "Half a na");
  assert.equal(await page.evaluate("window.isSameDocument"), true);

  // Signed out in this browser, and signed in in another.
  const signedOut = await context.newPage();
  await signedOut.goto(`${app.url}/unsubscribe/none`);
  await signedOut.getByRole("heading", { name: "\u202eThis link doesn't work\u202c", exact: true }).waitFor();
  await context.close();
  const other = await visit(app, "/trash", { userId: user.id, locale: "en" });
  await other.page.getByRole("heading", { level: 1, name: "\u202eTrash\u202c", exact: true }).waitFor();
  await other.context.close();
});
