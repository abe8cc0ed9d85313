import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import {
  BodyBrokenError,
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  ObjectTooLargeError,
  OffsetError,
} from "../store.ts";
import { all, brokenAfter, inSteps, mebibyte, newKey, read, sampleBytes } from "./conformance-tools.ts";

/** Registers the tests of resumable writing. @param openedStore returns the store under test; called in each test. */
export function testAppends(openedStore: () => ObjectStore): void {
  const keysOf = async (store: ObjectStore, prefix: string): Promise<string[]> =>
    (await all(store.listAppends(prefix))).map(({ key }) => key);

  test("append: 12 MiB in steps of 1 MiB and in odd sizes become the same object", async () => {
    const store = openedStore();
    const bytes = sampleBytes(12 * mebibyte);
    for (const sizes of [[mebibyte], [1, 5 * mebibyte, 100_001, 3 * mebibyte + 7]]) {
      const key = newKey();
      let offset = 0;
      for (let turn = 0; offset < bytes.length; turn++) {
        const part = bytes.subarray(offset, offset + (sizes[turn % sizes.length] as number));
        assert.equal(await store.append(key, offset, inSteps(part, 65_536)), offset + part.length);
        offset += part.length;
        assert.equal((await store.appended(key))?.offset, offset);
      }
      assert.equal(await store.head(key), null);
      const info = await store.finishAppend(key);
      assert.deepEqual([info.key, info.size], [key, bytes.length]);
      assert.equal((await store.head(key))?.etag, info.etag);
      assert.ok(bytes.equals(await read(store, key)));
      assert.equal(await store.appended(key), null);
    }
  });

  test("append: more than 32 MiB from one body and small ones", async () => {
    const [store, key, bytes] = [openedStore(), newKey(), sampleBytes(45 * mebibyte + 11)];
    let offset = 0;
    for (const size of [17 * mebibyte + 3, mebibyte, mebibyte, 3 * mebibyte, 23 * mebibyte + 8])
      offset = await store.append(key, offset, inSteps(bytes.subarray(offset, offset + size), 65_536));
    assert.equal(offset, bytes.length);
    const info = await store.finishAppend(key);
    assert.equal((await store.head(key))?.etag, info.etag);
    assert.ok(bytes.equals(await read(store, key)));
    assert.deepEqual(await keysOf(store, key), []);
  });

  test("append: bytes that arrived before a broken connection are kept, and the next append continues there", async () => {
    const [store, key, bytes] = [openedStore(), newKey(), sampleBytes(12 * mebibyte)];
    await assert.rejects(store.append(key, 0, brokenAfter(bytes.subarray(0, 9 * mebibyte))), BodyBrokenError);
    assert.equal((await store.appended(key))?.offset, 9 * mebibyte);
    const abort = new AbortController();
    const body = new PassThrough();
    body.write("lost with its sender");
    setImmediate(() => abort.abort());
    await assert.rejects(store.append(key, 9 * mebibyte, body, { signal: abort.signal }), BodyBrokenError);
    assert.ok(body.destroyed);
    const offset = (await store.appended(key))?.offset as number;
    assert.ok(offset >= 9 * mebibyte);
    await store.dropAppend(key);
    await store.append(key, 0, inSteps(bytes.subarray(0, 5 * mebibyte), 65_536));
    await store.append(key, 5 * mebibyte, inSteps(bytes.subarray(5 * mebibyte), 65_536));
    await store.finishAppend(key);
    assert.ok(bytes.equals(await read(store, key)));
  });

  test("append: at another offset than the end it is refused and changes nothing", async () => {
    const [store, key] = [openedStore(), newKey()];
    const body = (text: string): Readable => Readable.from([Buffer.from(text)]);
    await assert.rejects(store.append(key, 5, body("x")), OffsetError);
    assert.equal(await store.appended(key), null);
    await store.append(key, 0, body("hello"));
    for (const offset of [0, 4, 6]) await assert.rejects(store.append(key, offset, body("x")), OffsetError);
    await store.append(key, 5, body(" world"));
    await store.finishAppend(key);
    assert.equal((await read(store, key)).toString(), "hello world");
  });

  test("append: never stores more than the limit, counted over all appends", async () => {
    const [store, key] = [openedStore(), newKey()];
    await store.append(key, 0, inSteps(Buffer.alloc(60_000), 10_000), { maxBytes: 100_000 });
    const endless = new PassThrough();
    endless.write(Buffer.alloc(50_000));
    await assert.rejects(store.append(key, 60_000, endless, { maxBytes: 100_000 }), ObjectTooLargeError);
    assert.equal(endless.destroyed, false);
    endless.destroy();
    const { offset } = (await store.appended(key)) as { offset: number };
    assert.ok(offset >= 60_000 && offset <= 100_000);
    await store.append(key, offset, inSteps(Buffer.alloc(100_000 - offset), 10_000), { maxBytes: 100_000 });
    assert.equal((await store.finishAppend(key)).size, 100_000);
  });

  test("append: no bytes at all make an empty object", async () => {
    const [store, key] = [openedStore(), newKey()];
    await store.append(key, 0, Readable.from([]));
    assert.equal((await store.appended(key))?.offset, 0);
    assert.deepEqual(await keysOf(store, key), [key]);
    await store.append(key, 0, Readable.from([]));
    assert.equal((await store.finishAppend(key)).size, 0);
    assert.equal((await read(store, key)).length, 0);
    assert.equal(await store.appended(key), null);
  });

  test("finishAppend: a second call returns the object; without an append it reports a missing object", async () => {
    const [store, key] = [openedStore(), newKey()];
    await assert.rejects(store.finishAppend(key), ObjectMissingError);
    await store.append(key, 0, Readable.from([Buffer.from("done")]));
    const first = await store.finishAppend(key);
    const second = await store.finishAppend(key);
    assert.deepEqual([second.size, second.etag], [first.size, first.etag]);
    assert.equal((await read(store, key)).toString(), "done");
  });

  test("finishAppend: concurrent calls each return the same object or report that the key is taken", async () => {
    const store = openedStore();
    for (let turn = 0; turn < (store.kind === "local" ? 50 : 10); turn++) {
      const key = newKey();
      await store.append(key, 0, Readable.from([Buffer.from(key)]));
      const begun: Promise<unknown>[] = [];
      let isDone = false;
      const done = (): void => {
        isDone = true;
      };
      // One after the other without waiting, so that they meet at every step.
      while (!isDone && begun.length < 20) {
        const call = store.finishAppend(key);
        call.then(done, done);
        begun.push(call);
        await store.appended(key);
      }
      const calls = (await Promise.allSettled(begun)) as PromiseSettledResult<ObjectInfo>[];
      const there = await store.head(key);
      assert.equal(there?.size, key.length);
      for (const call of calls) {
        if (call.status === "fulfilled")
          assert.deepEqual([call.value.key, call.value.etag], [key, there?.etag]);
        else assert.ok(call.reason instanceof ObjectExistsError, String(call.reason));
      }
      assert.ok(calls.some(({ status }) => status === "fulfilled"));
      assert.equal(await store.appended(key), null);
    }
  });

  test("append: hundreds of tiny appends and some larger ones make the right object", async () => {
    const [store, key, bytes] = [openedStore(), newKey(), sampleBytes(6 * mebibyte)];
    let offset = 0;
    for (let turn = 0; turn < 150; turn++) {
      const size = turn % 50 === 49 ? 2 * mebibyte - 3000 : 61;
      offset = await store.append(key, offset, Readable.from([bytes.subarray(offset, offset + size)]));
    }
    assert.equal((await store.appended(key))?.offset, offset);
    assert.equal((await store.finishAppend(key)).size, offset);
    assert.ok(bytes.subarray(0, offset).equals(await read(store, key)));
  });

  test("finishAppend: a key taken by another object is refused, and that object stays", async () => {
    const store = openedStore();
    for (const size of [5, 33 * mebibyte]) {
      const key = newKey();
      await store.append(key, 0, inSteps(Buffer.alloc(size), 65_536));
      await store.put(key, Buffer.from("first"));
      await assert.rejects(store.finishAppend(key), ObjectExistsError);
      assert.equal((await read(store, key)).toString(), "first");
      await store.dropAppend(key);
    }
  });

  test("dropAppend: removes the appended bytes, and a second call does nothing", async () => {
    const [store, key] = [openedStore(), newKey()];
    await store.append(key, 0, inSteps(sampleBytes(9 * mebibyte), 65_536));
    await store.dropAppend(key);
    assert.equal(await store.appended(key), null);
    await store.dropAppend(key);
    await assert.rejects(store.finishAppend(key), ObjectMissingError);
    assert.equal(await store.append(key, 0, Readable.from([Buffer.from("new")])), 3);
    await store.dropAppend(key);
  });

  test("listAppends: lists every key with an unfinished append and when it last grew, by prefix", async () => {
    const store = openedStore();
    const keys = ["list-appends/a", "list-appends/a-b", "list-appends/b/c", "list-appends/b/d"];
    for (const key of keys) {
      await store.append(key, 0, Readable.from([Buffer.from("x")]));
      await store.append(key, 1, Readable.from([Buffer.from("y")]));
    }
    assert.deepEqual((await keysOf(store, "list-appends/")).sort(), keys);
    assert.deepEqual(await keysOf(store, "list-appends/b/d"), ["list-appends/b/d"]);
    for await (const { modifiedAt } of store.listAppends("list-appends/"))
      assert.ok(Math.abs(modifiedAt.getTime() - Date.now()) < 60_000);
    await store.finishAppend("list-appends/a");
    for (const key of keys) await store.dropAppend(key);
    assert.deepEqual(await keysOf(store, "list-appends/"), []);
  });
}
