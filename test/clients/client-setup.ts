import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { call, startTestApp, type TestApp } from "../support/app.ts";
import {
  insertRecording,
  makeRecording,
  makeTeam,
  makeWorkspace,
  mediaFile,
  type TestWorkspace,
} from "../support/factories.ts";
import { receiverCertificate, startHookReceiver } from "../support/hook-receiver.ts";
import { freePort } from "../support/port.ts";

const run = promisify(execFile);

/** A folder of `packages`. */
export function packageFolder(name: string): string {
  return fileURLToPath(new URL(`../../packages/${name}/`, import.meta.url));
}

/** The code blocks of a language in a package's README, in order. */
export function readExamples(name: string, language: string): string[] {
  const blocks = readFileSync(join(packageFolder(name), "README.md"), "utf8").split("```");
  return blocks
    .filter((block) => block.startsWith(`${language}\n`))
    .map((block) => block.slice(language.length + 1));
}

/** What a client's programs need: a server, a token, a library of more than one page, a webhook and its first delivery. */
export interface ClientSetup {
  readonly app: TestApp;
  readonly workspace: TestWorkspace;
  /** Accepts test requests of webhooks. */
  readonly hookUrl: string;
  /** A temporary folder with `meeting.mp4` and `meeting.mp3`; the programs run there. */
  readonly folder: string;
  /** Runs a program of the client. @returns what it printed. @throws Error with its output if it fails. */
  runProgram(program: string, args: readonly string[]): Promise<string>;
  /**
   * Uploads of MEETING as interrupted senders left them.
   * @returns their ids: begun; begun, its URL expired; not begun, its URL expired; failed.
   */
  beginUploads(): Promise<string[]>;
}

/** Starts a server with data for a client's tests. */
export async function startClientSetup(): Promise<ClientSetup> {
  setDefaultCACertificates([...getCACertificates("default"), receiverCertificate()]);
  const folder = mkdtempSync(join(tmpdir(), "parley-client-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const app = await startTestApp({
    port: await freePort(),
    env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" },
  });
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  await makeTeam(app.db, workspace, [member]);
  for (let n = 0; n < 120; n++)
    await insertRecording(app.db, { recorderId: member.id, media_type: "transcript" });
  const receiver = await startHookReceiver({ tls: true });
  const hookUrl = `https://localhost:${receiver.port}/hook`;
  const hook = await call(
    app,
    "POST",
    "/hooks/create",
    { hook_url: hookUrl, hook_type: "recording_added" },
    { token: member.token },
  );
  assert.equal(hook.status, 200, hook.text);
  await makeRecording(app, member.token);
  const [, delivery] = await receiver.waitFor(2);
  assert.ok(delivery);
  const { body, headers } = delivery;
  const deliveryFile = join(folder, "delivery.json");
  writeFileSync(deliveryFile, JSON.stringify({ body, headers, secret: hook.body.secret }));
  copyFileSync(mediaFile("good-faststart.mp4"), join(folder, "meeting.mp4"));
  copyFileSync(mediaFile("good-cbr.mp3"), join(folder, "meeting.mp3"));
  mkdirSync(join(folder, "programs"));
  const meeting = mediaFile("good-44100.mp3");
  const env = {
    PATH: process.env.PATH,
    PARLEY_URL: app.url,
    PARLEY_TOKEN: member.token,
    HOOK_URL: hookUrl,
    HOOK_SECRET: hook.body.secret,
    DELIVERY: deliveryFile,
    MEETING: meeting,
  };
  return {
    app,
    workspace,
    hookUrl,
    folder,
    async runProgram(program, args) {
      const { stdout } = await run(program, args, { cwd: folder, env, timeout: 180_000 });
      return stdout;
    },
    async beginUploads() {
      const expired = { url_expires_at: new Date(Date.now() - 60_000) };
      const uploads = [
        { isBegun: true, change: {} },
        { isBegun: true, change: expired },
        { isBegun: false, change: expired },
        { isBegun: true, change: { status: "failure" as const, failure_reason: "the file is empty" } },
      ];
      const ids: string[] = [];
      for (const { isBegun, change } of uploads) {
        const { body } = await call(
          app,
          "POST",
          "/uploads/create",
          { media_type: "audio" },
          { token: member.token },
        );
        if (isBegun) await sendPart(body.media.upload.tus_url, readFileSync(meeting));
        await app.db.kysely
          .updateTable("uploads")
          .set({ media_type: "audio", ...change })
          .where("id", "=", body.id)
          .execute();
        ids.push(body.id);
      }
      return ids;
    },
  };
}

/** Announces a file and sends its first 40,000 bytes. */
async function sendPart(url: string, file: Buffer): Promise<void> {
  const headers = { "tus-resumable": "1.0.0" };
  const begun = await fetch(url, {
    method: "POST",
    headers: { ...headers, "upload-length": String(file.length) },
  });
  assert.equal(begun.status, 201);
  const sent = await fetch(url, {
    method: "PATCH",
    headers: { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" },
    body: file.subarray(0, 40_000),
  });
  assert.equal(sent.status, 204);
}
