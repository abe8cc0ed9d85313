import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeWorkspace } from "../support/factories.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const app = await startBrowserApp({
  env: { PARLEY_OPEN_UPLOADS_PER_USER: "1", PARLEY_STORAGE_PER_WORKSPACE: "10kB" },
});
const sound = readFileSync(fileURLToPath(new URL("../fixtures/media/good-cbr.mp3", import.meta.url)));

test("uploads: full storage and a reached limit are shown at the file, with the remedy and a retry", async () => {
  const { member } = await makeWorkspace(app.db);
  const { page } = await visitShared(app, "/uploads", { userId: member.id });
  const sending = page.getByRole("region", { name: "In progress" });
  await page.getByLabel("Choose files to upload").setInputFiles({
    name: "first.mp3",
    mimeType: "audio/mpeg",
    buffer: sound,
  });
  await sending.getByText(/storage is full\. Permanently delete recordings/).waitFor();
  await sending.getByRole("button", { name: "Retry first.mp3" }).waitFor();
  await page.getByLabel("Choose files to upload").setInputFiles({
    name: "second.mp3",
    mimeType: "audio/mpeg",
    buffer: sound,
  });
  await sending.getByText(/The limit of 1 open upload is reached\. Finish it/).waitFor();
  await sending.getByRole("button", { name: "Retry second.mp3" }).waitFor();
});
