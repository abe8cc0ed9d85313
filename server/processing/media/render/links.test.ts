import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findLinks } from "./links.ts";

const ebml = Buffer.concat([
  Buffer.from("1a45dfa39f4286810142f7810142f2810442f381084282", "hex"),
  Buffer.from("\x84webm"),
]);
/** A page of Ogg with one byte of content. */
const page = (flags: number) =>
  Buffer.from([...Buffer.from("OggS"), 0, flags, ...new Array(20).fill(0), 1, 1, 0x55]);

async function starts(content: Buffer, container: "ogg" | "webm" | "flac"): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), "links-"));
  try {
    const path = join(folder, "file");
    await writeFile(path, content);
    return findLinks(path, container).map(({ start }) => start);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("streams one after the other are found wherever they begin", async () => {
  const window = 1 << 20;
  for (const at of [100, window - 70, window - 2, window, 3 * window + 5]) {
    const webm = Buffer.alloc(at + 1000);
    for (const place of [0, at]) ebml.copy(webm, place);
    assert.deepEqual(await starts(webm, "webm"), [0, at]);
    const damaged = Buffer.alloc(at - 2 * page(0).length, 1);
    const ogg = Buffer.concat([page(2), page(0), damaged, page(2), page(0)]);
    assert.deepEqual(await starts(ogg, "ogg"), [0, at]);
  }
});

test("a file full of beginnings of streams is searched in linear time", async () => {
  const started = performance.now();
  const magic = ebml.subarray(0, 4);
  assert.deepEqual(await starts(Buffer.concat(new Array<Buffer>(1 << 20).fill(magic)), "webm"), [0]);
  const pageAndByte = Buffer.concat([page(0), Buffer.from([1])]);
  assert.deepEqual(await starts(Buffer.concat(new Array<Buffer>(1 << 18).fill(pageAndByte)), "ogg"), [0]);
  assert.ok(performance.now() - started < 30_000, `${Math.round(performance.now() - started)} ms`);
});
