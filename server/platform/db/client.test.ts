import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import { PreparingClient, preparedMark, TimedClient } from "./client.ts";
import { isConnectionError } from "./connection-errors.ts";

const { url } = await createTestDatabase();

/** A pool of one connection. */
function openPool(query_timeout: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: 1,
    query_timeout,
    Client: TimedClient,
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
  const inTransaction = async (): Promise<void> => {
    const client = await pool.connect();
    try {
      await client.query("begin");
      await client.query("select pg_sleep(30)");
    } finally {
      // As Kysely does, which says nothing of the error.
      client.release();
    }
  };
  for (const wait of [() => pool.query("select pg_sleep(30)"), inTransaction]) {
    const before = await processOf();
    await assert.rejects(wait(), isConnectionError);
    assert.notEqual(await processOf(), before);
  }
});

test("a marked statement is prepared once in each connection, and runs with each of its values", async () => {
  const pool = new pg.Pool({ connectionString: url, max: 1, Client: PreparingClient } as pg.PoolConfig);
  after(() => pool.end());
  const double = async (value: number): Promise<unknown> =>
    (await pool.query(`select $1::integer * 2 as doubled${preparedMark}`, [value])).rows[0].doubled;
  assert.deepEqual([await double(1), await double(2)], [2, 4]);
  await pool.query("select 1 as plain");
  const { rows } = await pool.query("select statement from pg_prepared_statements");
  assert.deepEqual(rows, [{ statement: `select $1::integer * 2 as doubled${preparedMark}` }]);
});
