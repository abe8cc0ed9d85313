import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { installModel } from "../../server/processing/models/install.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessible, startBrowserApp, visit } from "./support.ts";

/** A mirror that sends a part of each file and then nothing more. */
const sendPart: RequestListener = (_request, response) =>
  void response.writeHead(200).write(Buffer.alloc(3_000_000));
let serve = sendPart;
const mirror = createServer((request, response) => serve(request, response));
await new Promise<void>((resolve) => mirror.listen(0, "127.0.0.1", resolve));
const app = await startBrowserApp({
  env: { PARLEY_MODEL_MIRROR: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/` },
});
after(() => {
  mirror.closeAllConnections();
  mirror.close();
});

test("transcription: a model's download shows license, progress and failure, can be canceled, and ends in ready", async () => {
  const { admin } = await makeWorkspace(app.db);
  const { page, complaints } = await visit(app, "/settings/transcription", { userId: admin.id });
  await page.getByText("Transcription is not set up").waitFor();
  await page.getByRole("button", { name: "Download model (671 MB): parakeet-v3" }).waitFor();
  const row = page.getByRole("listitem").filter({ hasText: "Tells the speakers" });
  await row.getByText("License: CC-BY-4.0").waitFor();
  await row.getByRole("button", { name: "Download model (41 MB): speakers" }).click();
  await row.getByText(/Downloading… 7% of 41 MB/).waitFor();
  await assertAccessible(page);
  await row.getByRole("button", { name: "Cancel the download of speakers" }).click();
  await page.getByText("Download canceled.").waitFor();
  mirror.closeAllConnections();
  serve = (_request, response) => void response.writeHead(404).end();
  await row.getByRole("button", { name: "Download model (41 MB): speakers" }).click();
  await row.getByText(/responded with status 404/).waitFor();
  await row.getByRole("button", { name: "Resume download: speakers" }).waitFor();
  const folder = fileURLToPath(new URL("../fixtures/speech/tiny-transducer", import.meta.url));
  await installModel(app.config.dataDir, "tiny", { type: "folder", path: folder });
  await page.reload();
  await page.getByText("Transcription is ready").waitFor();
  const custom = page.getByRole("listitem").filter({ hasText: "tiny" });
  await custom.getByText("Custom", { exact: true }).waitFor();
  await assertAccessible(page);
  await custom.getByRole("button", { name: "Remove tiny" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove model" }).click();
  await page.getByText("Transcription is not set up").waitFor();
  const { rows } = await app.db.pool.query(
    "select action, details from audit_log where action like 'speech%' order by id",
  );
  assert.deepEqual(
    rows.map(({ action, details }) => `${action} ${details.name}`),
    [
      "speech_model_requested speakers",
      "speech_model_removed speakers",
      "speech_model_requested speakers",
      "speech_model_removed tiny",
    ],
  );
  assert.deepEqual(complaints, []);
});
