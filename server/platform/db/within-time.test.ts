import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestDatabase } from "../../../test/support/database.ts";
import { openDatabase } from "./database.ts";
import type { Queryable } from "./replica.ts";
import { readWithinTime } from "./within-time.ts";

const database = await createTestDatabase();
const { pool, close } = openDatabase(database.settings, { maxConnections: 1, onError: () => {} });
after(async () => {
  await close();
  await database.drop();
});

const sleep = (seconds: number) => (source: Queryable) => source.query("select pg_sleep($1)", [seconds]);

test("reads are canceled at their limit, and leave the connection as it was", async () => {
  const client = await pool.connect();
  try {
    await assert.rejects(readWithinTime(client, 50, sleep(60)), { code: "57014" });
  } finally {
    client.release();
  }
  await assert.rejects(readWithinTime(pool, 50, sleep(60)), { code: "57014" });
  const { rows } = await pool.query("show statement_timeout");
  assert.deepEqual(rows, [{ statement_timeout: "1min" }]);
  await pool.query("create temporary table writable ()");
});

test("several reads share one limit, as does waiting for a connection", async () => {
  const read = readWithinTime(pool, 300, async (source) => {
    for (;;) await sleep(0.1)(source);
  });
  await assert.rejects(read, (error: { code?: string; message: string }) =>
    error.code === undefined ? /limit/.test(error.message) : error.code === "57014",
  );
  const client = await pool.connect();
  const waiting = readWithinTime(pool, 0, sleep(0));
  client.release();
  await assert.rejects(waiting, /limit/);
});

test("reads within the limit return their result", async () => {
  const read = (source: Queryable) => source.query("select $1::integer as n", [7]);
  assert.deepEqual((await readWithinTime(pool, 10_000, read)).rows, [{ n: 7 }]);
});
