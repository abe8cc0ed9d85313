import assert from "node:assert/strict";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { ObjectMissingError, type ObjectStore } from "../store.ts";
import { all, mebibyte, newKey, nothingAt, read, sampleBytes } from "./conformance-tools.ts";

/** Registers the tests of whole objects. @param openedStore returns the store under test; called in each test. */
export function testObjects(openedStore: () => ObjectStore): void {
  test("get: a range is first and last byte; past the end it is cut, beyond it a RangeError", async () => {
    const [store, key, bytes] = [openedStore(), newKey(), sampleBytes(100_000)];
    await store.put(key, bytes);
    for (const [start, end] of [
      [0, 0],
      [0, 99_999],
      [40_000, 50_000],
      [99_999, 99_999],
      [99_990, 200_000],
    ] as const) {
      const { info, body } = await store.get(key, { start, end });
      assert.equal(info.size, bytes.length);
      assert.ok(bytes.subarray(start, end + 1).equals(await buffer(body)), `${start}-${end}`);
    }
    for (const [start, end] of [
      [100_000, 100_001],
      [5, 4],
      [-1, 4],
      [0.5, 4],
    ] as const)
      await assert.rejects(store.get(key, { start, end }), RangeError);
    const empty = newKey();
    await store.put(empty, Buffer.alloc(0));
    await assert.rejects(store.get(empty, { start: 0, end: 0 }), RangeError);
    await assert.rejects(store.get(newKey(), { start: 0, end: 0 }), ObjectMissingError);
  });

  test("get: aborting its signal ends the body", async () => {
    const [store, key] = [openedStore(), newKey()];
    await store.put(key, sampleBytes(9 * mebibyte));
    const abort = new AbortController();
    const { body } = await store.get(key, undefined, abort.signal);
    body.once("data", () => abort.abort());
    await assert.rejects(buffer(body));
  });

  test("delete: removes the object, and a second call does nothing", async () => {
    const [store, key] = [openedStore(), newKey()];
    await store.put(key, Buffer.from("x"));
    await store.delete(key);
    await nothingAt(store, key);
    await store.delete(key);
    await store.put(key, Buffer.from("y"), { ifAbsent: true });
  });

  test("copy: stores the same bytes at another key, replacing its object; the original stays", async () => {
    const [store, from, to, bytes] = [openedStore(), newKey(), newKey(), sampleBytes(70_000)];
    await store.put(from, bytes, { contentType: "text/plain" });
    await store.put(to, Buffer.from("old"));
    const info = await store.copy(from, to, "video/mp4");
    assert.deepEqual([info.key, info.size], [to, bytes.length]);
    await store.copy(from, to);
    await store.copy(to, to);
    await store.delete(from);
    assert.ok(bytes.equals(await read(store, to)));
    await assert.rejects(store.copy(from, to), ObjectMissingError);
    assert.ok(bytes.equals(await read(store, to)));
  });

  test("putFile: stores a small file and one of more than 64 MiB, replacing the object there", async () => {
    const [store, key] = [openedStore(), newKey()];
    const folder = await mkdtemp(join(tmpdir(), "parley-file-"));
    try {
      for (const size of [0, 1000, 70 * mebibyte + 3]) {
        const path = join(folder, String(size));
        const file = await open(path, "w");
        await file.truncate(size);
        const mark = sampleBytes(1000);
        for (const at of size > 1000 ? [0, 32 * mebibyte - 500, size - 1000] : [])
          await file.write(mark, 0, 1000, at);
        await file.close();
        const info = await store.putFile(key, path, { contentType: "video/mp4" });
        assert.deepEqual([info.size, info.etag], [size, (await store.head(key))?.etag]);
        const back = await read(store, key);
        assert.equal(back.length, size);
        for (const at of size > 1000 ? [0, 32 * mebibyte - 500, size - 1000] : [])
          assert.ok(mark.equals(back.subarray(at, at + 1000)));
      }
      await assert.rejects(store.putFile(key, join(folder, "none")), { code: "ENOENT" });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("list: by prefix, in the order of keys, more than a thousand", async () => {
    const store = openedStore();
    const keys = Array.from({ length: 1050 }, (_, index) => `many/${index % 7}/${index}`);
    keys.push("many/1-b", "many/1.b", "many/10", "many/1=b", "many/1_b", "many/1B");
    for (let at = 0; at < keys.length; at += 50)
      await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, Buffer.from("x"))));
    await store.append("many/appended", 0, Readable.from([Buffer.from("x")]));
    const listed = async (prefix: string): Promise<string[]> =>
      (await all(store.list(prefix))).map(({ key }) => key);
    assert.deepEqual(await listed("many/"), [...keys].sort());
    assert.deepEqual(await listed("many/1"), keys.filter((key) => key.startsWith("many/1")).sort());
    assert.deepEqual(await listed("many/3/10"), keys.filter((key) => key.startsWith("many/3/10")).sort());
    assert.deepEqual(await listed("many/none/"), []);
    assert.ok((await listed("")).length >= keys.length);
    assert.ok((await listed("")).every((key) => !key.startsWith(".")));
  });

  test("keys: unusual valid keys work, and every operation refuses invalid ones", async () => {
    const store = openedStore();
    const allowed = [
      "a",
      "A.b_c=d-e",
      "=",
      "-",
      "odd/a..b/c.",
      `odd/${"k".repeat(200)}`,
      `${"s/".repeat(255)}ab`,
    ];
    for (const key of allowed) {
      await store.put(key, Buffer.from(key), { ifAbsent: true });
      assert.equal((await read(store, key)).toString(), key);
      assert.deepEqual(
        (await all(store.list(key))).map((info) => info.key),
        [key],
      );
      await store.delete(key);
    }
    const refused = [
      "",
      "/",
      "/a",
      "a/",
      "a//b",
      ".",
      "..",
      "../a",
      "a/../b",
      "a/./b",
      ".a",
      "a/.b",
      "a b",
      "a\\b",
      "a\0b",
      "a%2fb",
      "ä",
      "a:b",
      "a?b",
      "a#b",
      "a\n",
      "x".repeat(513),
      "x".repeat(201),
      ".tmp/x",
      ".partial/x",
    ];
    for (const key of refused) {
      const body = (): Readable => Readable.from([Buffer.from("x")]);
      await assert.rejects(store.put(key, body()), TypeError, key);
      await assert.rejects(store.putFile(key, "none"), TypeError);
      await assert.rejects(store.get(key), TypeError);
      await assert.rejects(store.head(key), TypeError);
      await assert.rejects(store.delete(key), TypeError);
      await assert.rejects(store.copy(key, "b"), TypeError);
      await assert.rejects(store.copy("b", key), TypeError);
      await assert.rejects(store.append(key, 0, body()), TypeError);
      await assert.rejects(store.appended(key), TypeError);
      await assert.rejects(store.finishAppend(key), TypeError);
      await assert.rejects(store.dropAppend(key), TypeError);
      assert.throws(() => store.localPath(key), TypeError);
    }
    for (const prefix of ["../", "/", ".partial/", "a/../"])
      await assert.rejects(all(store.list(prefix)), TypeError);
  });

  test("probe: a working store stores and returns a test object, and lists none", async () => {
    const store = openedStore();
    await store.probe();
    await store.check();
    assert.deepEqual(
      (await all(store.list(""))).filter(({ key }) => key.includes("probe")),
      [],
    );
  });
}
