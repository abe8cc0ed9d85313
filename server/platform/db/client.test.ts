import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import { PrimaryClient, queryTogether } from "./client.ts";
import { isConnectionError } from "./connection-errors.ts";
import { createShortStatements, type ShortStatements } from "./short-statements.ts";

const { url } = await createTestDatabase();
const shortStatements = createShortStatements(4);

/** A pool of one connection. */
function openPool(query_timeout: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    query_timeout,
    Client: PrimaryClient,
  } as pg.PoolConfig);
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  after(() => pool.end());
  return pool;
}

test("a statement without a response in time fails as a lost connection, which the pool replaces", async () => {
  const pool = openPool(300);
  const processOf = async (): Promise<number> =>
    (await pool.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid ?? 0;
  const before = await processOf();
  await assert.rejects(pool.query("select pg_sleep(30)"), (error) => {
    assert.match(String(error), /the database does not respond/);
    return isConnectionError(error);
  });
  assert.notEqual(await processOf(), before);
});

test("errors of statements have the caller's stack, in all forms of a query", async () => {
  const pool = openPool(5000);
  const client = await pool.connect();
  const failing = { text: "select $1::int", values: ["x"] };
  await assert.rejects(client.query(failing), (error: Error) => /client\.test\.ts/.test(error.stack ?? ""));
  await assert.rejects(client.query(failing.text, failing.values), /invalid input syntax/);
  const byCallback = await new Promise((resolve) => client.query(failing.text, failing.values, resolve));
  assert.match(String(byCallback), /invalid input syntax/);
  const { rows } = await client.query({ text: "select $1::int as number", values: [1] });
  assert.deepEqual(rows, [{ number: 1 }]);
  client.release();
});

test("two statements sent together have their own results and errors", async () => {
  const pool = openPool(5000);
  const named = { name: "double", text: "select $1::int * 2 as number", values: [21] };
  const failing = { text: "select 1 / $1::int as number", values: [0] };
  const outcomes = async (first: pg.QueryConfig, second: pg.QueryConfig): Promise<unknown[]> =>
    (await Promise.allSettled(queryTogether({ pool, shortStatements }, first, second))).map((outcome) =>
      outcome.status === "fulfilled" ? outcome.value.rows[0]?.number : outcome.reason.message,
    );
  const other = { ...named, name: "other", values: [4] };
  const seven = { text: "select 7 as number" };
  const pairs: [pg.QueryConfig, pg.QueryConfig, unknown[]][] = [
    [named, seven, [42, 7]],
    [named, other, [42, 8]],
    [other, { ...failing, values: [1] }, [8, 1]],
    [seven, named, [7, 42]],
  ];
  for (const [first, second, expected] of pairs)
    for (let turn = 0; turn < 7; turn += 1) assert.deepEqual(await outcomes(first, second), expected);
  const many = await Promise.all(Array.from({ length: 30 }, () => outcomes(named, other)));
  assert.deepEqual(new Set(many.map(String)), new Set(["42,8"]));
  assert.deepEqual(await outcomes(named, failing), [42, "division by zero"]);
  assert.deepEqual(await outcomes(failing, named), ["division by zero", "division by zero"]);
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const unsendable = { ...failing, values: [circular] };
  const unsendableFirst = await outcomes(unsendable, named);
  for (const outcome of [...(await outcomes(named, unsendable)), ...unsendableFirst])
    assert.match(String(outcome), /circular/);
  assert.deepEqual(await outcomes(named, other), [42, 8]);
});

test("two statements sent together count as one short statement until they are done, however they end", async () => {
  const pool = openPool(300);
  const refused = new pg.Pool({ host: "127.0.0.1", port: 1, Client: PrimaryClient } as pg.PoolConfig);
  const broken = new pg.Pool({ Client: BrokenClient } as pg.PoolConfig);
  const good = { text: "select 1" };
  const failing = { text: "select 1 / $1::int", values: [0] };
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const unsendable = { ...failing, values: [circular] };
  const slow = { text: "select pg_sleep(30)" };
  const cases: [pg.Pool, pg.QueryConfig, pg.QueryConfig][] = [
    [pool, good, good],
    [pool, failing, good],
    [pool, good, failing],
    [pool, unsendable, good],
    [pool, good, unsendable],
    [pool, good, slow],
    [refused, good, good],
    [broken, good, good],
  ];
  for (const [n, [each, first, second]] of cases.entries()) {
    let running = 0;
    const counted: ShortStatements = {
      run(work) {
        running += 1;
        return work().finally(() => {
          running -= 1;
        });
      },
    };
    const sent = queryTogether({ pool: each, shortStatements: counted }, first, second);
    assert.equal(running, 1, `case ${n}`);
    await Promise.allSettled(sent);
    await nextTurn();
    assert.equal(running, 0, `case ${n}`);
  }
});

/** As if the file of a certificate was missing. */
class BrokenClient {
  constructor() {
    throw new Error("no such file");
  }
}

test("of two statements sent together the second sees what was committed before the first ran", async () => {
  const pool = openPool(5000);
  const writer = openPool(5000);
  await writer.query("create table counted (number integer)");
  await writer.query("insert into counted values (0)");
  let isDone = false;
  const writing = (async () => {
    for (let n = 1; n <= 200; n += 1) await writer.query("update counted set number = $1", [n]);
    isDone = true;
  })();
  const read = { text: "select number from counted" };
  while (!isDone) {
    const [first, second] = await Promise.all(queryTogether({ pool, shortStatements }, read, read));
    assert.ok(first.rows[0]?.number <= second.rows[0]?.number);
  }
  await writing;
});

test("two statements sent together without a response in time fail as a lost connection", async () => {
  const pool = openPool(300);
  const sent = queryTogether(
    { pool, shortStatements },
    { text: "select 1" },
    { text: "select pg_sleep(30)" },
  );
  for (const outcome of await Promise.allSettled(sent))
    assert.ok(outcome.status === "rejected" && isConnectionError(outcome.reason));
  const [, later] = await Promise.all(
    queryTogether({ pool, shortStatements }, { text: "select 1" }, { text: "select 2 as number" }),
  );
  assert.deepEqual(later.rows, [{ number: 2 }]);
});

test("results don't stay in memory until the whole heap is collected", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options?: { type: "minor" }) => void;
  const oldBytes = (): number =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0;
  const pool = openPool(5000);
  const client = new PrimaryClient({ connectionString: url });
  await client.connect();
  after(() => client.end());
  const text = "select repeat('x', 30000)";
  const queries = [
    () => client.query(text),
    () => pool.query(text),
    () => Promise.all(queryTogether({ pool, shortStatements }, { text: "select 1" }, { text })),
  ];
  for (const query of queries) {
    for (let n = 0; n < 100; n += 1) await query();
    collect();
    const before = oldBytes();
    for (let round = 0; round < 4; round += 1) {
      for (let n = 0; n < 100; n += 1) await query();
      collect({ type: "minor" });
    }
    const grownKb = (oldBytes() - before) / 1000;
    assert.ok(grownKb < 1000, `400 results of 30 kB left ${grownKb} kB`);
  }
});
