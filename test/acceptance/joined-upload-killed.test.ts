import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { tonesIn } from "../../server/processing/media/render/test/tones-in.ts";
import { openLine } from "../../server/processing/uploads/test/resumable.ts";
import { call } from "../support/call.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { createStages } from "../support/stages.ts";
import { until } from "../support/until.ts";
import { makeWav, type Tone } from "../support/wav.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const mebibyte = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "parley-joined-"));
const line = await openLine({ respondsWhenDown: true });
const server = await prepareServer({ env: { PARLEY_BASE_URL: line.url, PARLEY_SWEEP_INTERVAL: "3s" } });
const dataDir = server.env.PARLEY_DATA_DIR ?? "";
const database = new pg.Client(server.env.PARLEY_DATABASE_URL);
await database.connect();
line.leadTo(server.url);
after(async () => {
  line.close();
  await database.end();
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Where the server is killed while it works on what has arrived: before these changes. */
const stages = {
  "all bytes have arrived":
    "before update on uploads for each row when (old.status = 'awaiting' and new.status = 'processing')",
  "the joined file is stored": "before insert on recordings",
} as const;

/** The parts of a meeting, each with a tone. The first has exactly the size of a chunk. */
const parts: readonly { readonly durationMs: number; readonly tone: Tone }[] = [
  { durationMs: 32_766, tone: { startMs: 5000, endMs: 8000, hz: 300 } },
  { durationMs: 20_000, tone: { startMs: 15_000, endMs: 18_000, hz: 500 } },
  { durationMs: 11_000, tone: { startMs: 1000, endMs: 10_000, hz: 700 } },
];
const startOf = (index: number): number =>
  parts.slice(0, index).reduce((sum, { durationMs }) => sum + durationMs, 0);

/** Makes a WAV file larger by a chunk that players skip. */
function padWav(file: Buffer, bytes: number): Buffer {
  const padded = Buffer.alloc(bytes);
  file.copy(padded);
  padded.write("JUNK", file.length, "latin1");
  padded.writeUInt32LE(bytes - file.length - 8, file.length + 4);
  padded.writeUInt32LE(bytes - 8, 4);
  return padded;
}

/** Holds back what clients send, from the moment that `isDue` returns true. */
function hold(isDue: () => boolean): { readonly reached: Promise<void>; release(): void } {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  line.onPiece(async () => {
    if (!isDue()) return;
    reached.resolve();
    await released.promise;
  });
  return {
    reached: reached.promise,
    release() {
      line.onPiece(null);
      released.resolve();
    },
  };
}

/** Files below a folder of the data folder; none while the server removes one of its folders. */
function filesBelow(name: string): string[] {
  const path = join(dataDir, name);
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return [];
  }
}

/** Bytes of the parts that the server has stored. */
function arrivedBytes(): number {
  const partial = join("objects", ".partial");
  const [file] = filesBelow(partial);
  return file === undefined ? 0 : statSync(join(dataDir, partial, file)).size;
}

test("killed between parts, within a part and in every step of joining them: one complete recording, no leftovers", async () => {
  const points = await createStages(database, server, stages);
  await server.start();
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  const paths: string[] = [];
  for (const [index, { durationMs, tone }] of parts.entries()) {
    const file = makeWav(durationMs, [tone]);
    const path = join(folder, `Board ${index + 1}.wav`);
    await writeFile(path, index === 0 ? padWav(file, mebibyte) : file);
    paths.push(path);
  }
  const send = () => {
    const child = spawn(
      process.execPath,
      [main, "upload", "--join", ...paths, "--title", "Board", "--chunk-size", "1", "--wait"],
      {
        env: { ...process.env, PARLEY_URL: line.url, PARLEY_TOKEN: token, XDG_STATE_HOME: folder },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (text) => {
      stdout += text;
    });
    child.stderr.on("data", (text) => {
      stderr += text;
    });
    const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
      child.once("close", (code) => resolve({ code, stdout: stdout.trim(), stderr })),
    );
    return { child, ended };
  };

  const between = hold(() => arrivedBytes() >= mebibyte);
  const first = send();
  await between.reached;
  await points.kill();
  assert.equal(arrivedBytes(), mebibyte, "exactly the first part has arrived");

  // The same client continues; this time its machine dies as well.
  await server.start();
  between.release();
  const sentBefore = line.sent;
  const within = hold(() => line.sent - sentBefore > 300_000);
  await within.reached;
  first.child.kill("SIGKILL");
  await points.kill();
  await first.ended;
  within.release();
  assert.ok(arrivedBytes() >= mebibyte && arrivedBytes() < 2 * mebibyte, `${arrivedBytes()} bytes`);

  const second = send();
  await points.stopAt("all bytes have arrived");
  await server.start();
  await points.hasStopped("all bytes have arrived");
  await points.kill();
  await points.stopAt("the joined file is stored");
  await server.start();
  const joining = () => filesBelow("scratch").some((path) => /media\.mp3$/.test(path));
  await until("the parts are being joined", joining);
  await points.kill();
  await points.stopAt("the joined file is stored");
  await server.start();
  await points.hasStopped("the joined file is stored");
  assert.ok(
    filesBelow("objects").some((path) => /^recordings\/.*\/media\.mp3$/.test(path)),
    "the joined file is stored",
  );
  await points.kill();

  await server.start();
  const { code, stdout: recordingId, stderr } = await second.ended;
  assert.equal(code, 0, stderr);
  const totalBytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  assert.ok(line.sent < totalBytes + mebibyte / 2, `${line.sent} bytes were sent for ${totalBytes}`);
  const { rows: uploads } = await database.query("select status, recording_id from uploads");
  assert.deepEqual(uploads, [{ status: "success", recording_id: recordingId }]);
  const { body } = await call(server, "POST", "/recordings", {}, { token });
  assert.deepEqual(
    body.recordings.map(({ id, title }: { id: string; title: string }) => [id, title]),
    [[recordingId, "Board"]],
  );
  const totalMs = startOf(parts.length);
  assert.ok(Math.abs(body.recordings[0].duration_ms - totalMs) < 150, `${body.recordings[0].duration_ms} ms`);
  const heard = tonesIn(join(dataDir, "objects", "recordings", recordingId, "media.mp3"), folder);
  for (const [index, { tone }] of parts.entries()) {
    const found = heard[index];
    assert.equal(found?.hz, tone.hz, JSON.stringify(heard));
    assert.ok(Math.abs(found.startMs - startOf(index) - tone.startMs) < 150, JSON.stringify(heard));
    assert.ok(Math.abs(found.endMs - startOf(index) - tone.endMs) < 150, JSON.stringify(heard));
  }
  assert.equal(heard.length, parts.length);

  // Folders of killed processes are removed after five minutes; here they are old at once.
  for (const name of readdirSync(join(dataDir, "scratch")))
    utimesSync(join(dataDir, "scratch", name), new Date(0), new Date(0));
  const { rows: stored } = await database.query("select key from stored_files order by key");
  await until(
    "no folder of a killed process is left",
    () => readdirSync(join(dataDir, "scratch")).length === 0,
  );
  assert.deepEqual(
    filesBelow("objects")
      // What a killed process was writing is removed after a day (local.test.ts).
      .filter((path) => !/^(?:parley|\.tmp)\//.test(path))
      .sort(),
    stored.map(({ key }) => key),
  );
  const { rows: open } = await database.query(
    "select name, coalesce(run_id::text, 'waiting') from jobs where key <> '' union all select 'lease', upload_id::text from resumable_leases",
  );
  assert.deepEqual(open, []);
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "parley", "uploads.json"), "utf8")), { uploads: [] });
  assert.equal(await server.stop(), 0);
});
