import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { after, test } from "node:test";
import { openLocalStore } from "./local/local.ts";
import { ObjectExistsError } from "./store.ts";
import { makeSwitchable } from "./switchable.ts";
import { testObjectStore } from "./test/conformance.ts";
import { all, newKey, read } from "./test/conformance-tools.ts";
import { combineStores } from "./two-stores.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-two-stores-"));
const [first, second] = [await openLocalStore(folder, "first"), await openLocalStore(folder, "second")];
const both = combineStores(first, second);
after(() => rm(folder, { recursive: true }));

testObjectStore(() => both);

test("objects of the second store are read, listed in order, replaced and removed", async () => {
  const prefix = newKey();
  const keys = ["a", "b", "c", "d"].map((name) => `${prefix}/${name}`);
  const [a = "", b = "", c = "", d = ""] = keys;
  for (const key of [a, c]) await first.put(key, Buffer.from("first"));
  for (const key of [b, c, d]) await second.put(key, Buffer.from("second"));
  assert.deepEqual(
    (await all(both.list(prefix))).map(({ key }) => key),
    keys,
  );
  assert.deepEqual(await Promise.all(keys.map(async (key) => (await read(both, key)).toString())), [
    "first",
    "second",
    "first",
    "second",
  ]);
  await assert.rejects(both.put(b, Buffer.from("again"), { ifAbsent: true }), ObjectExistsError);
  await both.copy(d, `${prefix}/e`);
  assert.equal((await read(first, `${prefix}/e`)).toString(), "second");
  await both.put(d, Buffer.from("replaced"));
  assert.equal((await read(both, d)).toString(), "replaced");
  // An empty object replaces a file where it is: see removeFile.
  await both.put(b, Buffer.alloc(0));
  assert.deepEqual([(await second.head(b))?.size, await first.head(b)], [0, null]);
  for (const key of [...keys, `${prefix}/e`]) await both.delete(key);
  assert.deepEqual(await all(both.list(prefix)), []);
});

test("an append continues in the store where it began", async () => {
  const key = newKey();
  await second.append(key, 0, Readable.from([Buffer.from("one ")]));
  assert.equal(await both.append(key, 4, Readable.from([Buffer.from("two")])), 7);
  assert.equal((await both.finishAppend(key)).size, 7);
  assert.equal(await first.head(key), null);
  assert.equal((await buffer((await both.get(key)).body)).toString(), "one two");
});

test("draining waits for writes to every former store, which end in the store where they began", async () => {
  const { store, use, drain } = makeSwitchable(second);
  const [slow, next] = [newKey(), newKey()];
  const body = new Readable({ read() {} });
  const writing = store.put(slow, body);
  body.push("begun ");
  use(combineStores(second, first));
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  use(both);
  // The write began two switches ago.
  const draining = [drain().then(end), drain().then(end)];
  await store.put(next, Buffer.from("next"));
  assert.equal(isOver, false);
  body.push("ended");
  body.push(null);
  await writing;
  await Promise.all(draining);
  assert.equal((await read(second, slow)).toString(), "begun ended");
  assert.equal(await second.head(next), null);
  assert.equal((await read(store, slow)).toString(), "begun ended");
});
