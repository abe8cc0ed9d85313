import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { encodeFile } from "../../server/processing/media/test/encode.ts";
import { openLine } from "../../server/processing/uploads/test/resumable.ts";
import { call } from "../../test/support/call.ts";
import { writePaddedMedia } from "../../test/support/padded-media.ts";
import { parley, prepareServer, runParley } from "../../test/support/server-process.ts";
import { until } from "../../test/support/until.ts";
import { makeWav } from "../../test/support/wav.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../test/fixtures/media/${name}`, import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "parley-upload-"));
const line = await openLine();
const server = await prepareServer({ env: { PARLEY_BASE_URL: line.url } });
after(async () => {
  line.close();
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});
await server.start();
line.leadTo(server.url);
const token = await parley(server, "token", "create", "--email", "admin@parley.local");
const recorder: string = (await call(line, "POST", "/users", {}, { token })).body.users[0].id;
const state = join(folder, "parley", "uploads.json");

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const settings = { PARLEY_URL: line.url, PARLEY_TOKEN: token, XDG_STATE_HOME: folder };

/** Runs the upload command. */
async function run(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const { code, stdout, stderr } = await runParley({ env: { ...settings, ...env } }, "upload", ...args);
  return { code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() };
}

/** Starts the upload command in a process of its own. */
function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [main, "upload", ...args], {
    env: { ...process.env, ...settings, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise<Result>((resolve) =>
    child.once("close", (code) => resolve({ code, stdout: stdout.trimEnd(), stderr: stderr.trimEnd() })),
  );
  return { child, ended };
}

const upload = (...args: string[]): Promise<Result> => run([...args, "--recorder", recorder]);

const uuid = /^[0-9a-f-]{36}$/;

async function get(uploadId: string) {
  return (await call(line, "POST", `/uploads/${uploadId}`, { include: { attributes: true } }, { token }))
    .body;
}

/** Creates a video of that size, which the server doesn't refuse while a command still asks for its status; of up to one byte, zeros. */
function makeFile(name: string, bytes: number): string {
  const path = join(folder, name);
  if (bytes > 1) writePaddedMedia(path, "good-faststart.mp4", bytes);
  else writeFileSync(path, Buffer.alloc(bytes));
  return path;
}

test("upload --wait prints the id of an existing recording, for every format", async () => {
  const wav = join(folder, "converted.wav");
  writeFileSync(wav, makeWav(10_000, [{ startMs: 0, endMs: 5000, hz: 400 }]));
  for (const path of [fixture("good-faststart.mp4"), fixture("good-cbr.mp3"), wav]) {
    const { code, stdout, stderr } = await upload(path, "--wait");
    assert.equal(code, 0, stderr);
    assert.match(stdout, uuid, stderr);
    const recording = await call(line, "POST", `/recordings/${stdout}`, {}, { token });
    assert.equal(recording.status, 200, recording.text);
  }
  assert.deepEqual(JSON.parse(readFileSync(state, "utf8")), { uploads: [] });
});

test("upload --wait says how much was kept of a file that ends early", async () => {
  const path = join(folder, "cut.wav");
  const whole = makeWav(20_000, [{ startMs: 0, endMs: 5000, hz: 400 }]);
  writeFileSync(path, whole.subarray(0, Math.floor(whole.length * 0.8)));
  const { code, stderr } = await upload(path, "--wait");
  assert.equal(code, 0, stderr);
  assert.match(stderr, /cut\.wav: The file ends early: 16 of about 20 seconds were kept\./);
});

test("upload --join makes one recording of several files, which take several chunks", async () => {
  const paths = [fixture("good-faststart.mp4"), join(folder, "second.wav")];
  writeFileSync(paths[1] ?? "", makeWav(40_000, [{ startMs: 0, endMs: 5000, hz: 400 }]));
  const args = ["--join", "--title", "Both parts", "--chunk-size", "1", "--wait"];
  const { code, stdout, stderr } = await upload(...paths, ...args);
  assert.equal(code, 0, stderr);
  const { body } = await call(line, "POST", `/recordings/${stdout}`, {}, { token });
  assert.equal(body.title, "Both parts");
  assert.ok(Math.abs(body.duration_ms - 52_000) < 2500, `${body.duration_ms}`);
});

test("captions and a chat are sent with their recording, its audio tracks wait for a choice, and its name states the time of this zone", async () => {
  const name = (ending: string) => join(folder, `2026-03-04 10-15-22${ending}`);
  const track = { codec: "aac", sounds: () => true };
  encodeFile(name(".mkv"), { format: "matroska", audio: [track, { ...track, hz: 800 }] });
  const cues =
    "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ada Lovelace>Hello, Zo\xeb.\n\n00:05.000 --> 00:03.000\nNo";
  writeFileSync(name(".vtt"), cues, "latin1");
  writeFileSync(name(" chat.txt"), "10:16 From Ada: see https://acme.example");
  const paths = [name(".vtt"), name(".mkv"), name(" chat.txt")];
  const { code, stdout, stderr } = await start([...paths, "--audio-tracks", "ask", "--wait", "--json"], {
    TZ: "Asia/Tokyo",
  }).ended;
  assert.equal(code, 0, stderr);
  const { upload_id: id, status } = JSON.parse(stdout);
  assert.match(stderr, /10-15-22\.vtt: 1 part of the file could not be read: line 6 ends before it starts/);
  assert.match(stderr, /10-15-22\.vtt: .* was read as windows-1252/);
  assert.equal(status, "staged");
  const { body: found } = await call(line, "GET", `/_/api/v1/imports/${id}`, undefined, {
    token,
    version: null,
  });
  assert.equal(found.audio_tracks.choice, "ask");
  assert.equal(found.audio_tracks.tracks.length, 2);
  assert.deepEqual(found.start, { datetime: "2026-03-04T01:15:22.000Z", from: "name" });
  assert.match(found.notes, /acme\.example/);
  const { body } = await call(
    line,
    "POST",
    `/uploads/${id}`,
    { include: { transcript: true, attributes: true } },
    { token },
  );
  assert.equal(body.attributes.transcript.segments[0].text, "Hello, Zoë.");
  assert.equal(body.attributes.participants[0].name, "Ada Lovelace");

  writeFileSync(name(".vtt"), "WEBVTT\n\n00:03.000 --> 00:01.000\nBackwards\n");
  const wrong = await run([...paths, "--language", "de"]);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /10-15-22\.vtt is not a valid transcript: .* line 3 ends before it starts/);
});

test("upload passes its options on, and --json prints a line per file", async () => {
  const path = fixture("onestep-aac.m4a");
  const start = "2026-10-05T09:30:00.000Z";
  const { code, stdout, stderr } = await upload(
    path,
    "--title",
    "Harbour",
    "--start-time",
    start,
    "--no-promote",
    "--wait",
    "--json",
  );
  assert.equal(code, 0, stderr);
  const printed = JSON.parse(stdout);
  assert.deepEqual(Object.keys(printed), ["file", "upload_id", "recording_id", "status"]);
  assert.equal(printed.file, path);
  assert.equal(printed.status, "staged");
  assert.equal(printed.recording_id, null);
  const body = await get(printed.upload_id);
  assert.equal(body.title, "Harbour");
  assert.equal(body.attributes.start_datetime, start);
  assert.deepEqual(body.attributes.recorder_ids, [recorder]);
});

test("upload without --wait prints the id of the upload once the file is sent", async () => {
  const { code, stdout, stderr } = await upload(fixture("good-cbr.mp3"));
  assert.equal(code, 0, stderr);
  assert.match(stdout, uuid);
  assert.notEqual((await get(stdout)).status, "awaiting");
  assert.match(stderr, /good-cbr\.mp3: 100 %/);
});

test("upload --wait reports rejected files and exits with 1; the other files are uploaded", async () => {
  const bad = fixture("bad-short.mp3");
  const { code, stdout, stderr } = await upload(bad, main, fixture("good-cbr.mp3"), "--wait");
  assert.equal(code, 1);
  assert.match(stdout, uuid);
  assert.match(stderr, /bad-short\.mp3: .+/);
  assert.match(stderr, /main\.ts looks like a text; use a video or audio file, such as \.mp4, \.mov/);
});

test("the same command resumes after SIGKILL and SIGINT", async () => {
  const size = 24 * 1024 * 1024;
  const path = makeFile("long.mp4", size);
  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    const args = [path, "--chunk-size", "2", "--recorder", recorder, "--title", signal];
    const before = line.sent;
    const gate = Promise.withResolvers<void>();
    // Blocks the connection after two thirds, so that the command is killed mid-upload.
    line.onPiece(async () => {
      if (line.sent - before > (size * 2) / 3) await gate.promise;
    });
    const first = start(args);
    await until("two thirds are sent", () => line.sent - before > (size * 2) / 3);
    first.child.kill(signal);
    const ended = await first.ended;
    assert.equal(ended.code, signal === "SIGINT" ? 130 : null);
    if (signal === "SIGINT") assert.match(ended.stderr, /run the same command again/);
    line.onPiece(null);
    gate.resolve();

    const record = onlyRecord(path);
    assert.ok(record);
    assert.equal(statSync(state).mode & 0o777, 0o600);
    assert.equal(readFileSync(state, "utf8").includes(token), false);
    const middle = line.sent;
    const second = await run(args);
    assert.equal(second.code, 0, second.stderr);
    assert.equal(second.stdout, record.upload_id);
    const again = line.sent - middle;
    assert.ok(again < size / 3 + 2 * 1024 * 1024 + 100_000, `${again} bytes were sent the second time`);
    await until("the file has arrived", async () => (await get(record.upload_id)).status !== "awaiting");
  }
  assert.equal(onlyRecord(path), undefined);
});

/** The saved record of an unfinished upload. */
function onlyRecord(path: string): { path: string; upload_id: string } | undefined {
  const { uploads } = JSON.parse(readFileSync(state, "utf8"));
  return uploads.find((record: { path: string }) => record.path === path);
}

test("several files: a second run skips files that the first has sent", async () => {
  const paths = [fixture("good-cbr.mp3"), makeFile("second.mp4", 6 * 1024 * 1024)];
  // A different input, so that records of other tests don't match.
  const args = [...paths, "--start-time", "2026-10-06T10:00:00Z", "--chunk-size", "1", "--json"];
  const before = line.sent;
  const gate = Promise.withResolvers<void>();
  line.onPiece(async () => {
    if (line.sent - before > 3_000_000) await gate.promise;
  });
  const first = start(args);
  await until("half of the second is sent", () => line.sent - before > 3_000_000);
  first.child.kill("SIGKILL");
  const sent = JSON.parse((await first.ended).stdout);
  line.onPiece(null);
  gate.resolve();
  const { code, stdout, stderr } = await run(args);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout.split("\n")[0] ?? "").upload_id, sent.upload_id);
  assert.match(stderr, /good-cbr\.mp3 is already uploaded/);
});

test("the file arrives although the connection is cut", async () => {
  const path = makeFile("cut.mp4", 5_000_000);
  line.cutAfter(2_500_000);
  const { code, stdout, stderr } = await upload(path, "--chunk-size", "1");
  assert.equal(code, 0, stderr);
  assert.notEqual((await get(stdout)).status, "awaiting");
});

test("errors are one line and never contain the token", async () => {
  const good = fixture("good-cbr.mp3");
  const wrong = "parley_pat_wrong";
  const workspaceToken = await parley(
    server,
    "token",
    "create",
    "--email",
    "admin@parley.local",
    "--workspace",
  );
  for (const [args, env, reason] of [
    [[good], { PARLEY_TOKEN: wrong }, /access token/],
    [[good], { PARLEY_TOKEN: "" }, /set PARLEY_TOKEN/],
    [[good, "--token", wrong], {}, /access token/],
    [[good], { PARLEY_TOKEN: workspaceToken }, /recorder_ids/],
    [[good, "--team", "x"], {}, /team_id/],
    [[main], {}, /looks like a text; use a video or audio file/],
    [[makeFile("Alone.vtt", 1)], {}, /Alone\.vtt belongs to no recording of the command/],
    [[join(folder, "none.mp4")], {}, /none\.mp4 can't be read/],
    [[makeFile("empty.mp4", 0)], {}, /is empty/],
    [[good, good, "--title", "T"], {}, /--title is allowed only with a single file or --join/],
  ] as const) {
    const { code, stdout, stderr } = await run(args, env);
    assert.equal(code, 1, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, reason);
    assert.equal(stderr.split("\n").length, 1, stderr);
    assert.doesNotMatch(stderr, /parley_[pw]at_/);
  }
});

test("an unreachable server is a one-line error", async () => {
  const { code, stderr } = await run([fixture("good-cbr.mp3")], {
    PARLEY_URL: "http://127.0.0.1:9",
  });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^parley: the server at http:\/\/127\.0\.0\.1:9 can't be reached: .*ECONNREFUSED|bad port/,
  );
});
