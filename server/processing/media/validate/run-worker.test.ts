import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { MediaSource } from "../facts.ts";
import { validateMedia } from "./index.ts";
import { runWorker, type WorkerLimits } from "./run-worker.ts";
import { audio, fixture, limits, validateHere, video } from "./test/files.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-validate-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A file that is elsewhere, and what was asked of it. */
function remote(content: Buffer): MediaSource & { readonly reads: number[] } {
  const reads: number[] = [];
  return {
    size: content.length,
    path: null,
    reads,
    async read(start, end) {
      reads.push(end - start + 1);
      return content.subarray(start, end + 1);
    },
  };
}

const unreadable: Pick<MediaSource, "read"> = { read: () => Promise.reject(new Error("not by reading")) };

/** Code in place of the validation thread. */
function entry(code: string): URL {
  const ready =
    'import { parentPort } from "node:worker_threads"; parentPort.postMessage({ type: "ready" });';
  return new URL(`data:text/javascript,${encodeURIComponent(`${ready}\n${code}`)}`);
}
const task = { expectation: video, limits };
const few: WorkerLimits = { timeoutMs: 400, maxHeapMb: 24, signal: undefined };

test("validate: a file of this machine and one elsewhere get the same result as without a thread", async () => {
  for (const [name, expectation] of [
    ["good-index-at-end.mp4", video],
    ["bad-short-silent-high.mp4", video],
    ["good-cbr.mp3", audio],
    ["other.mkv", video],
  ] as const) {
    const content = fixture(name);
    const path = join(folder, name);
    writeFileSync(path, content);
    const expected = validateHere(content, expectation);
    assert.deepEqual(
      await validateMedia({ ...unreadable, size: content.length, path }, expectation, limits),
      expected,
    );
    assert.deepEqual(await validateMedia(remote(content), expectation, limits), expected);
  }
});

test("validate: an empty file elsewhere is refused without a read", async () => {
  const source = remote(Buffer.alloc(0));
  const result = await validateMedia(source, video, limits);
  assert.ok(!result.ok && result.reason.startsWith("The file is empty."));
  assert.deepEqual(source.reads, []);
});

test("validate: reads of a large file elsewhere are few, and none is over 4 MiB", async () => {
  const content = fixture("good-cbr.mp3");
  const start = content.indexOf(Buffer.from([0xff, 0xf3]));
  const long = Buffer.concat(Array.from({ length: 1000 }, () => content.subarray(start)));
  const source = remote(long);
  const result = await validateMedia(source, audio, { ...limits, maxDurationSec: 20_000 });
  assert.ok(result.ok, JSON.stringify(result));
  assert.ok(source.reads.length <= long.length / 2 ** 22 + 4, `${source.reads.length} reads`);
  assert.ok(Math.max(...source.reads) <= 2 ** 22);
});

test("validate: a store that fails is not a bad file: the promise rejects with the store's error", async () => {
  const failure = new Error("503 slow down");
  const source: MediaSource = { size: 50_000, path: null, read: () => Promise.reject(failure) };
  await assert.rejects(validateMedia(source, video, limits), (error) => error === failure);
  let reads = 0;
  const content = fixture("good-index-at-end.mp4");
  const later: MediaSource = {
    size: content.length * 3,
    path: null,
    async read(start, end) {
      reads += 1;
      if (reads > 1) throw failure;
      return Buffer.concat([content, Buffer.alloc(100_000)]).subarray(start, end + 1);
    },
  };
  await assert.rejects(validateMedia(later, audio, limits), (error) => error === failure);
});

test("validate: a store that gives fewer bytes than asked is not a bad file", async () => {
  const source: MediaSource = { size: 5000, path: null, read: async () => new Uint8Array(10) };
  await assert.rejects(validateMedia(source, video, limits), /gave 10 bytes instead of 5000/);
});

test("validate: a local file that is gone, or shorter than it was, is not a bad file", async () => {
  const gone = { ...unreadable, size: 100, path: join(folder, "gone.mp4") };
  await assert.rejects(validateMedia(gone, video, limits), /could not be read: ENOENT/);
  const path = join(folder, "shrunk.mp4");
  writeFileSync(path, fixture("good-faststart.mp4").subarray(0, 20_000));
  await assert.rejects(validateMedia({ ...unreadable, size: 29_065, path }, video, limits), /shorter/);
  await assert.rejects(validateMedia({ ...unreadable, size: 100, path: folder }, video, limits), /EISDIR/);
});

test("validate: when it is aborted it rejects with the signal's reason, also while the store is silent", async () => {
  const reason = new Error("stopping");
  await assert.rejects(
    validateMedia(remote(Buffer.alloc(10)), video, limits, { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
  const controller = new AbortController();
  const source: MediaSource = {
    size: 5000,
    path: null,
    read: () => {
      controller.abort(reason);
      return new Promise(() => {});
    },
  };
  await assert.rejects(
    validateMedia(source, video, limits, { signal: controller.signal }),
    (error) => error === reason,
  );
});

test("thread: a store that takes longer than the timeout is waited for", async () => {
  const content = fixture("bad-short.mp4");
  const source: MediaSource = {
    size: content.length,
    path: null,
    async read(start, end) {
      await delay(2600);
      return content.subarray(start, end + 1);
    },
  };
  assert.deepEqual(await validateMedia(source, video, limits, { timeoutMs: 2000 }), validateHere(content));
});

const ends: Readonly<Record<string, readonly [code: string, says: RegExp]>> = {
  "an endless loop": ["for (;;) {}", /took longer than/],
  "all of its memory": [
    "const all = []; for (;;) all.push(new Array(1e5).fill(all.length));",
    /too much memory/,
  ],
  "an exception": ['throw new Error("at /secret/path.ts:1");', /reading it failed/],
  "a rejection": ["await Promise.reject(new TypeError('x'));", /reading it failed/],
  "an exit": ["process.exit(3);", /reading it failed/],
};

for (const [title, [code, says]] of Object.entries(ends))
  test(`thread: ${title} is a result in plain words`, async () => {
    // Only the endless loop is to run into the time; on a busy machine the others take longer than it has.
    const most = title === "an endless loop" ? few : { ...few, timeoutMs: 20_000 };
    const result = await runWorker(entry(code), { ...unreadable, size: 10, path: "x" }, task, most);
    assert.ok(!result.ok);
    assert.match(result.reason, /^The file could not be checked: .*\. Its index is probably damaged\./);
    assert.match(result.reason, says);
    assert.doesNotMatch(result.reason, /Error|secret|\.ts|at /);
  });

test("thread: code that cannot be loaded is not a bad file", async () => {
  const missing = new URL("./missing.ts", import.meta.url);
  await assert.rejects(
    runWorker(missing, { ...unreadable, size: 10, path: "x" }, task, { ...few, timeoutMs: 20_000 }),
    /missing\.ts/,
  );
});
