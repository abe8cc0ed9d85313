import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Locator } from "playwright-core";
import { call } from "../support/app.ts";
import { makeRecording, makeWorkspace } from "../support/factories.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp();
const { admin } = await makeWorkspace(app.db);
const manage = (method: "DELETE", path: string) =>
  call(app, method, `/_/api/v1${path}`, undefined, { version: null, token: admin.token });

/** A text with accents in every word is from a catalog. */
async function assertTranslated(text: Locator): Promise<void> {
  await text.waitFor({ timeout: 30_000 });
  const shown = await text.innerText();
  assert.match(shown, /~/, shown);
  for (const word of shown.replaceAll("~", "").match(/[\p{L}]{5,}/gu) ?? [])
    assert.match(word, /[^a-zA-Z]/, shown);
}

test("errors are shown in the reader's language: in a notification, at a field, in a form, and of a failed upload", async () => {
  const { recordingId } = await makeRecording(app, admin.token, { title: "Budget" });
  await manage("DELETE", `/recordings/${recordingId}`);
  const { page, leave } = await visitShared(app, "/trash", { userId: admin.id, locale: "en-XA" });
  const restore = page.getByRole("button", { name: /^Ŕ.*Budget/ });
  await restore.waitFor();
  const gone = await manage("DELETE", `/trash/${recordingId}`);
  assert.equal(gone.status, 200, gone.text);
  await restore.click();
  await assertTranslated(page.getByRole("alert").first());

  await page.goto(`${app.url}/settings`);
  const name = page.locator("input[autocomplete=name]");
  await name.fill("n".repeat(400));
  await name.press("Enter");
  await assertTranslated(page.locator(".mantine-InputWrapper-error").first());

  const cutOff = readFileSync(
    fileURLToPath(new URL("../fixtures/media/good-faststart.mp4", import.meta.url)),
  );
  await page.goto(`${app.url}/uploads`);
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({
      name: "cut-off.mp4",
      mimeType: "video/mp4",
      buffer: cutOff.subarray(0, Math.floor(cutOff.length * 0.7)),
    });
  await assertTranslated(page.getByText(/Ţĥé ƒíļé|Ţĥé fíļé/).first());
  await leave();
});
