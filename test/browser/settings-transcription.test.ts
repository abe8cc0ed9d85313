import assert from "node:assert/strict";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { installModel } from "../../server/processing/models/install.ts";
import { makeWorkspace } from "../support/factories.ts";
import { assertAccessibleAtRest } from "./recording-support.ts";
import { assertAccessible, phone, startBrowserApp, visitShared } from "./support.ts";

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

/** The operator of the server. */
const { admin } = await makeWorkspace(app.db);
const desktop = { width: 1280, height: 900 };
/** Name, size and colors of each screenshot. */
const shots = [
  ["desktop", desktop, "light"],
  ["desktop-dark", desktop, "dark"],
  ["phone", phone, "light"],
  ["phone-dark", phone, "dark"],
] as const;

test("transcription: a model's download shows license, progress and failure, can be canceled, and ends in ready", async () => {
  const { page, complaints } = await visitShared(app, "/settings/transcription", { userId: admin.id });
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

test("language model: a GGUF file is installed by its path on the server, and a wrong one says why", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-gguf-"));
  after(() => rm(folder, { recursive: true, force: true }));
  const tiny = fileURLToPath(new URL("../fixtures/language/tiny-random.gguf", import.meta.url));
  const good = join(folder, "Own-Model.gguf");
  const { page, complaints } = await visitShared(app, "/settings/language-model", { userId: admin.id });
  const path = page.getByLabel("Path of a GGUF file");
  const install = page.getByRole("button", { name: "Install from file", exact: true });
  await path.fill("own-model.gguf");
  await install.click();
  await page.getByText("Must be the absolute path of a GGUF file, which ends in .gguf").waitFor();
  await path.fill(good);
  await install.click();
  const row = page.getByRole("listitem").filter({ hasText: "own-model" });
  await row.getByText(`there is no file ${good} on the server's machine; check the path`).waitFor();
  await writeFile(good, "something else");
  await row.getByRole("button", { name: "Try again: own-model", exact: true }).click();
  await row.getByText(`${good} is not a GGUF file`).waitFor();
  await page.mouse.move(0, 0);
  await assertAccessibleAtRest(page);
  for (const [name, size, theme] of shots)
    if (process.env.SCREENSHOTS) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme });
      await row.scrollIntoViewIfNeeded();
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/gguf-${name}.png`, fullPage: true });
    }
  await row.getByRole("button", { name: "Dismiss: own-model", exact: true }).click();
  await row.waitFor({ state: "detached" });
  await copyFile(tiny, good);
  await path.fill(good);
  await page.getByLabel("Name of the model").fill("Own Model");
  await install.click();
  await page.getByText("Must be lowercase letters, digits, dots, underscores and hyphens").waitFor();
  await page.getByLabel("Name of the model").fill("mine");
  await install.click();
  const mine = page.getByRole("listitem").filter({ hasText: "mine" });
  await mine.getByText("Custom", { exact: true }).waitFor();
  await mine.getByRole("button", { name: "Remove mine", exact: true }).waitFor();
  await page.getByText("The language model is ready").waitFor();
  // The second time is refused, and what is installed stays.
  await path.fill(good);
  await page.getByLabel("Name of the model").fill("mine");
  await install.click();
  await page.getByText("The model mine is installed already").waitFor();
  const { rows } = await app.db.pool.query(
    "select details from audit_log where action = 'language_model_requested' order by id",
  );
  assert.deepEqual(
    rows.map(({ details }) => `${details.name} ${details.path}`),
    [`own-model ${good}`, `own-model ${good}`, `mine ${good}`],
  );
  await mine.getByRole("button", { name: "Remove mine", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove model" }).click();
  await page.getByText("No language model is set up").waitFor();
  // The refused forms.
  assert.deepEqual(
    complaints.filter((complaint) => !/status of 4(?:00|09)/.test(complaint)),
    [],
  );
});
