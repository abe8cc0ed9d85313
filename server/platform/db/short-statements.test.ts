import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type ConnectionSettings, openDatabase } from "./database.ts";
import { ShortStatements } from "./short-statements.ts";

/** Enters statements. @returns those that have begun, each with a function that ends it. */
function enterMany(limit: ShortStatements, count: number): Map<number, () => void> {
  const begun = new Map<number, () => void>();
  for (let n = 0; n < count; n += 1) limit.enter((leave) => begun.set(n, leave));
  return begun;
}

test("a statement begins when another one is done, in order", () => {
  const begun = enterMany(new ShortStatements(2), 4);
  assert.deepEqual([...begun.keys()], [0, 1]);
  begun.get(1)?.();
  assert.deepEqual([...begun.keys()], [0, 1, 2]);
  // A statement makes room only once.
  begun.get(1)?.();
  assert.deepEqual([...begun.keys()], [0, 1, 2]);
  begun.get(0)?.();
  assert.deepEqual([...begun.keys()], [0, 1, 2, 3]);
  for (const leave of begun.values()) leave();
});

test("slow statements don't hold up others, and make no more room when they are done", async () => {
  const limit = new ShortStatements(2);
  const begun = enterMany(limit, 5);
  for (let waited = 0; begun.size < 5 && waited < 100; waited += 1) await delay(10);
  assert.deepEqual([...begun.keys()], [0, 1, 2, 3, 4]);
  begun.get(0)?.();
  begun.get(1)?.();
  await delay(50);
  begun.get(2)?.();
  begun.get(3)?.();
  begun.get(4)?.();
  assert.deepEqual([...enterMany(limit, 3).keys()], [0, 1]);
});

test("when a hundred wait, more begin at once, and wait for a connection instead", () => {
  const begun = enterMany(new ShortStatements(2), 105);
  assert.deepEqual([...begun.keys()], [0, 1, 102, 103, 104]);
  begun.get(0)?.();
  assert.deepEqual([...begun.keys()], [0, 1, 102, 103, 104, 2], "those that wait are not overtaken for good");
  for (const leave of begun.values()) leave();
});

test("a statement that fails makes room", async () => {
  const limit = new ShortStatements(1);
  await assert.rejects(
    limit.run(() => Promise.reject(new Error("failed"))),
    /^Error: failed$/,
  );
  assert.equal(enterMany(limit, 1).size, 1);
});

test("statements are limited when PostgreSQL is reached by a socket", async () => {
  const limited = availableParallelism() + 2;
  const countAtOnce = async (settings: ConnectionSettings): Promise<number> => {
    const db = openDatabase(settings, { onError: () => {} });
    const count = enterMany(db.shortStatements, limited + 1).size;
    await db.close();
    return count;
  };
  for (const settings of [
    { host: "/run/postgresql" },
    { connectionString: "postgres://parley@localhost/parley?host=/run/postgresql" },
  ])
    assert.equal(await countAtOnce(settings), limited);
  for (const settings of [
    { host: "127.0.0.1" },
    { connectionString: "postgres://parley@database.example/parley" },
  ])
    assert.equal(await countAtOnce(settings), limited + 1);
});
