import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { BodyBrokenError, ObjectExistsError, type ObjectStore, ObjectTooLargeError } from "../store.ts";
import {
  all,
  brokenAfter,
  inSteps,
  mebibyte,
  newKey,
  nothingAt,
  read,
  sampleBytes,
} from "./conformance-tools.ts";

/** Registers the tests of `put`. @param openedStore returns the store under test; called in each test. */
export function testPuts(openedStore: () => ObjectStore): void {
  test("put: the object has the stored bytes, size, etag and time", async () => {
    const [store, key, bytes] = [openedStore(), newKey(), sampleBytes(300_001)];
    const put = await store.put(key, inSteps(bytes, 65_536), { contentLength: bytes.length });
    const { info, body } = await store.get(key);
    assert.ok(bytes.equals(await buffer(body)));
    assert.deepEqual([info.key, info.size, info.etag], [key, bytes.length, put.etag]);
    assert.ok(Math.abs(info.modifiedAt.getTime() - Date.now()) < 60_000);
    assert.deepEqual(await store.head(key), info);
    // A listing may have a more precise time than the object.
    const listed = await all(store.list(key));
    const inSec = (time: Date): number => Math.floor(time.getTime() / 1000);
    assert.deepEqual(
      listed.map((item) => ({ ...item, modifiedAt: inSec(item.modifiedAt) })),
      [{ ...info, modifiedAt: inSec(info.modifiedAt) }],
    );
  });

  test("put: from a buffer, of unknown length, larger than the buffer, and empty", async () => {
    const store = openedStore();
    const bytes = sampleBytes(9 * mebibyte + 1);
    const bodies: [Readable | Buffer, number | undefined, Buffer][] = [
      [bytes, undefined, bytes],
      [inSteps(bytes, 65_536), undefined, bytes],
      [inSteps(bytes, 65_536), bytes.length, bytes],
      [Buffer.alloc(0), undefined, Buffer.alloc(0)],
      [Readable.from([]), undefined, Buffer.alloc(0)],
      [Readable.from([]), 0, Buffer.alloc(0)],
    ];
    for (const [body, contentLength, expected] of bodies) {
      const key = newKey();
      const info = await store.put(key, body, contentLength === undefined ? {} : { contentLength });
      assert.equal(info.size, expected.length);
      assert.ok(expected.equals(await read(store, key)));
    }
  });

  test("put: with ifAbsent a second put is refused and the first object stays", async () => {
    const [store, key] = [openedStore(), newKey()];
    await store.put(key, Buffer.from("first"), { ifAbsent: true });
    await assert.rejects(store.put(key, Buffer.from("second"), { ifAbsent: true }), ObjectExistsError);
    const long = sampleBytes(9 * mebibyte);
    const body = inSteps(long, 65_536);
    await assert.rejects(
      store.put(key, body, { ifAbsent: true, contentLength: long.length }),
      ObjectExistsError,
    );
    assert.equal((await read(store, key)).toString(), "first");
  });

  test("put: of twelve concurrent puts with ifAbsent one succeeds, and the object is its own", async () => {
    const [store, key] = [openedStore(), newKey()];
    const bodies = Array.from({ length: 12 }, (_, index) => sampleBytes(100_000, index + 1));
    const results = await Promise.allSettled(
      bodies.map((bytes) =>
        store.put(key, inSteps(bytes, 10_000), { ifAbsent: true, contentLength: 100_000 }),
      ),
    );
    const winners = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    assert.equal(winners.length, 1);
    for (const result of results)
      if (result.status === "rejected") assert.ok(result.reason instanceof ObjectExistsError, result.reason);
    assert.ok(bodies[winners[0] as number]?.equals(await read(store, key)));
  });

  test("put: without ifAbsent the object is replaced, and its etag changes", async () => {
    const [store, key] = [openedStore(), newKey()];
    const first = await store.put(key, Buffer.from("one"));
    const second = await store.put(key, Buffer.from("two"));
    assert.notEqual(first.etag, second.etag);
    assert.equal((await read(store, key)).toString(), "two");
  });

  test("put: a body over the limit is refused while it arrives, left open, and nothing is stored", async () => {
    const store = openedStore();
    for (const announced of [true, false]) {
      const key = newKey();
      const endless = new PassThrough();
      endless.write(Buffer.alloc(200_000));
      const options = { maxBytes: 100_000, ...(announced && { contentLength: 200_000 }) };
      await assert.rejects(store.put(key, endless, options), ObjectTooLargeError);
      assert.equal(endless.destroyed, false);
      endless.destroy();
      await nothingAt(store, key);
    }
    const key = newKey();
    await store.put(key, Buffer.alloc(1000), { maxBytes: 1000 });
    assert.equal((await store.head(key))?.size, 1000);
  });

  test("put: a body shorter or longer than announced is refused, and nothing is stored", async () => {
    const store = openedStore();
    for (const announced of [99_999, 100_001, 9 * mebibyte, 0]) {
      const key = newKey();
      const body = inSteps(sampleBytes(100_000), 10_000);
      await assert.rejects(store.put(key, body, { contentLength: announced }), BodyBrokenError);
      await nothingAt(store, key);
    }
    const key = newKey();
    const long = inSteps(sampleBytes(9 * mebibyte + 1), 65_536);
    await assert.rejects(store.put(key, long, { contentLength: 9 * mebibyte }), BodyBrokenError);
    await nothingAt(store, key);
  });

  test("put: a body that breaks off leaves nothing, and the key stays free", async () => {
    const store = openedStore();
    for (const contentLength of [undefined, 12 * mebibyte]) {
      const key = newKey();
      const options = { ifAbsent: true, ...(contentLength !== undefined && { contentLength }) };
      await assert.rejects(store.put(key, brokenAfter(sampleBytes(6 * mebibyte)), options), BodyBrokenError);
      await nothingAt(store, key);
      const closed = new PassThrough();
      closed.write("some");
      setImmediate(() => closed.destroy());
      await assert.rejects(store.put(key, closed, options), BodyBrokenError);
      await nothingAt(store, key);
      await store.put(key, Buffer.from("now"), { ifAbsent: true });
    }
  });

  test("put: when its signal aborts it, the body is destroyed and nothing is stored", async () => {
    const [store, key] = [openedStore(), newKey()];
    for (const options of [{}, { contentLength: 9 * mebibyte }]) {
      const body = new PassThrough();
      body.write("some");
      const abort = new AbortController();
      setImmediate(() => abort.abort());
      await assert.rejects(store.put(key, body, { ...options, signal: abort.signal }), BodyBrokenError);
      assert.ok(body.destroyed);
      await nothingAt(store, key);
      await assert.rejects(
        store.put(key, Buffer.from("late"), { signal: AbortSignal.abort() }),
        BodyBrokenError,
      );
      await nothingAt(store, key);
    }
  });
}
