import assert from "node:assert/strict";
import { after, test } from "node:test";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import { PrimaryClient } from "./client.ts";
import { isConnectionError } from "./connection-errors.ts";

const { url } = await createTestDatabase();

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
  for (const query of [() => client.query(text), () => pool.query(text)]) {
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
