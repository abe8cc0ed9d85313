import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeWorkspace } from "../support/factories.ts";
import { startNginx } from "../support/nginx.ts";
import { writePaddedMedia } from "../support/padded-media.ts";
import { freePort } from "../support/port.ts";
import { skipWithout } from "../support/programs.ts";
import { startBrowserApp, visitShared } from "./support.ts";

const mebibyte = 1024 * 1024;

test("uploads through nginx with its default limit: chunks shrink; a larger transcript names proxy and remedy", {
  skip: skipWithout("nginx"),
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-proxy-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const [port, serverPort] = [await freePort(), await freePort()];
  const app = await startBrowserApp({
    port: serverPort,
    env: { PARLEY_BASE_URL: `http://localhost:${port}`, PARLEY_TRUSTED_PROXIES: "127.0.0.1" },
  });
  await startNginx(port, `http://127.0.0.1:${serverPort}`);
  const { member } = await makeWorkspace(app.db);
  const { page } = await visitShared(app, "/uploads", { userId: member.id });
  const statuses: number[] = [];
  page.on("response", (response) => {
    // Not the page's own change of the user.
    const isChunk = response.request().method() === "PATCH" && !response.url().includes("/_/api/");
    if (isChunk) statuses.push(response.status());
  });
  // Chunks of a fortieth of the file would have 1.5 MiB.
  const media = join(folder, "Large meeting.mp4");
  writePaddedMedia(media, "good-faststart.mp4", 60 * mebibyte);
  await page.getByLabel("Choose files to upload").setInputFiles(media);
  const row = page
    .getByRole("region", { name: "Your uploads" })
    .getByRole("listitem")
    .filter({ hasText: "Large meeting" });
  await row.getByText("Ready", { exact: true }).waitFor({ timeout: 300_000 });
  assert.deepEqual(
    statuses.filter((status) => status !== 204),
    [413],
  );

  const transcript = join(folder, "Long meeting.vtt");
  const cue = (index: number): string => {
    const at = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 23);
    return `${at(index)} --> ${at(index + 1)}\n<v Ada>${"The harbour contract needs another look. ".repeat(5)}\n`;
  };
  writeFileSync(transcript, `WEBVTT\n\n${Array.from({ length: 6000 }, (_, index) => cue(index)).join("\n")}`);
  await page.getByLabel("Choose files to upload").setInputFiles(transcript);
  await page.getByText(/A proxy in front of the server refuses .*client_max_body_size/).waitFor();
});
