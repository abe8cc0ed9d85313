import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type ConnectionSettings, openDatabase } from "./database.ts";
import { createShortStatements, type ShortStatements } from "./short-statements.ts";

/** Time passes only by `t.mock.timers.tick`. */
function stopTime(t: TestContext): void {
  t.mock.timers.enable({ apis: ["setTimeout"] });
}

/** Runs statements. @returns those that have begun, each with a function that ends it. */
async function runMany(limit: ShortStatements, count: number): Promise<Map<number, () => void>> {
  const begun = new Map<number, () => void>();
  for (let n = 0; n < count; n += 1)
    void limit.run(() => new Promise<void>((resolve) => begun.set(n, resolve)));
  await nextTurn();
  return begun;
}

test("a statement begins when another one is done, in order", async (t) => {
  stopTime(t);
  const begun = await runMany(createShortStatements(2), 4);
  assert.deepEqual([...begun.keys()], [0, 1]);
  begun.get(1)?.();
  await nextTurn();
  assert.deepEqual([...begun.keys()], [0, 1, 2]);
  begun.get(0)?.();
  await nextTurn();
  assert.deepEqual([...begun.keys()], [0, 1, 2, 3]);
});

test("slow statements don't hold up others, and make no more room when they are done", async (t) => {
  stopTime(t);
  const limit = createShortStatements(2);
  const begun = await runMany(limit, 5);
  t.mock.timers.tick(9);
  await nextTurn();
  assert.deepEqual([...begun.keys()], [0, 1]);
  for (const expected of [4, 5]) {
    t.mock.timers.tick(10);
    await nextTurn();
    assert.equal(begun.size, expected);
  }
  for (const end of begun.values()) end();
  await nextTurn();
  assert.deepEqual([...(await runMany(limit, 3)).keys()], [0, 1]);
});

test("when a hundred wait, more begin at once, and wait for a connection instead", async (t) => {
  stopTime(t);
  const begun = await runMany(createShortStatements(2), 105);
  assert.deepEqual([...begun.keys()].sort(), [0, 1, 102, 103, 104].sort());
  begun.get(0)?.();
  await nextTurn();
  assert.ok(begun.has(2), "those that wait are not overtaken for good");
  assert.equal(begun.size, 6);
});

test("a statement that fails makes room", async (t) => {
  stopTime(t);
  const limit = createShortStatements(1);
  await assert.rejects(
    limit.run(() => Promise.reject(new Error("failed"))),
    /^Error: failed$/,
  );
  assert.equal((await runMany(limit, 1)).size, 1);
});

test("statements are limited when PostgreSQL is reached by a socket", async (t) => {
  stopTime(t);
  const limited = availableParallelism() + 2;
  const countAtOnce = async (settings: ConnectionSettings): Promise<number> => {
    const db = openDatabase(settings, { onError: () => {} });
    const { size } = await runMany(db.shortStatements, limited + 1);
    await db.close();
    return size;
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
