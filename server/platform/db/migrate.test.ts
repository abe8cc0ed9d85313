import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import {
  DatabaseTooNewError,
  MigrationFailedError,
  migrate,
  readMigrations,
  readSchema,
  UnfitDatabaseError,
} from "./migrate.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test("ten processes may migrate at once: each migration is applied once", async () => {
  const database = await createTestDatabase("template1");
  const script = `
    import { migrate } from "./server/platform/db/migrate.ts";
    process.stdout.write(JSON.stringify(await migrate({ connectionString: process.env.URL })));`;
  const runs = await Promise.all(
    Array.from({ length: 10 }, () =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], {
        cwd: root,
        env: { ...process.env, URL: database.url },
      }),
    ),
  );
  const applied = runs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
  assert.deepEqual(
    applied,
    readMigrations().map(({ name }) => name),
  );
  await database.drop();
});

test("a database with a migration this program does not know is refused, and left as it is", async () => {
  const database = await createTestDatabase();
  const client = new pg.Client(database.settings);
  await client.connect();
  await client.query(
    "create table if not exists schema_migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())",
  );
  await client.query("insert into schema_migrations (number, name) values (9999, '9999_from_the_future')");
  await assert.rejects(
    migrate(database.settings),
    (error) => error instanceof DatabaseTooNewError && /9999_from_the_future/.test(error.message),
  );
  await client.end();
  await database.drop();
});

test("a database with the migrations of a development version is refused, and left as it is", async () => {
  const database = await createTestDatabase("template1");
  const foundation = { number: 1, name: "0001_foundation", sql: "create table recordings ()" };
  const media = { number: 2, name: "0002_media", sql: "alter table recordings add column media text" };
  await migrate(database.settings, { migrations: [foundation, media] });
  const isRefusal = (error: unknown): boolean =>
    error instanceof UnfitDatabaseError &&
    /0001_foundation instead of 0001_schema.*start with an empty database/.test(error.message);
  await assert.rejects(migrate(database.settings), isRefusal);
  await assert.rejects(readSchema(database.settings), isRefusal);
  const client = new pg.Client(database.settings);
  await client.connect();
  const { rows } = await client.query(
    "select tablename from pg_tables where schemaname = 'public' order by 1",
  );
  assert.deepEqual(rows, [{ tablename: "recordings" }, { tablename: "schema_migrations" }]);
  await client.end();
  await database.drop();
});

test("a migration that fails leaves nothing of itself, and the next attempt continues from there", async () => {
  const database = await createTestDatabase("template1");
  const good = { number: 1, name: "0001_good", sql: "create table a ()" };
  const bad = { number: 2, name: "0002_bad", sql: "create table b (); select 1/0" };
  await assert.rejects(
    migrate(database.settings, { migrations: [good, bad] }),
    /0002_bad failed: division by zero/,
  );
  const mended = { ...bad, sql: "create table b ()" };
  assert.deepEqual(await migrate(database.settings, { migrations: [good, mended] }), ["0002_bad"]);
  assert.deepEqual(await migrate(database.settings, { migrations: [good, mended] }), []);
  await database.drop();
});

test("a migration does not queue behind a long query: others keep reading while it waits its turn", async () => {
  const database = await createTestDatabase("template1");
  const first = {
    number: 1,
    name: "0001_first",
    sql: "create table busy (id int); insert into busy values (1)",
  };
  await migrate(database.settings, { migrations: [first] });
  const reader = new pg.Client(database.settings);
  const other = new pg.Client(database.settings);
  await Promise.all([reader.connect(), other.connect()]);
  await reader.query("begin; select * from busy");
  const retries: string[] = [];
  const second = { number: 2, name: "0002_second", sql: "alter table busy add column name text" };
  let isDone = false;
  const migrating = migrate(database.settings, {
    migrations: [first, second],
    lockTimeoutMs: 200,
    retryPauseMs: 100,
    onRetry: (message) => retries.push(message),
  }).finally(() => {
    isDone = true;
  });
  let maxMs = 0;
  while (retries.length < 3) {
    const began = performance.now();
    await other.query("select * from busy");
    maxMs = Math.max(maxMs, performance.now() - began);
    assert.equal(isDone, false);
  }
  // Each attempt may hold others up for its own time limit, and no longer.
  assert.ok(maxMs < 3000, `another session waited for ${maxMs} ms`);
  await reader.query("commit");
  assert.deepEqual(await migrating, ["0002_second"]);
  assert.match(retries[0] ?? "", /0002_second waits for other database sessions/);
  await Promise.all([reader.end(), other.end()]);
  await database.drop();
});

test("a migration that waits past its deadline fails in one line with the way out", async () => {
  const database = await createTestDatabase("template1");
  const first = { number: 1, name: "0001_first", sql: "create table busy ()" };
  await migrate(database.settings, { migrations: [first] });
  const reader = new pg.Client(database.settings);
  await reader.connect();
  await reader.query("begin; select * from busy");
  const second = { number: 2, name: "0002_second", sql: "drop table busy" };
  await assert.rejects(
    migrate(database.settings, {
      migrations: [first, second],
      lockTimeoutMs: 50,
      retryPauseMs: 10,
      deadlineMs: 300,
    }),
    (error) =>
      error instanceof MigrationFailedError &&
      /0002_second failed: .*lock timeout.*parley migrate/.test(error.message) &&
      !error.message.includes("\n"),
  );
  await reader.end();
  await database.drop();
});

test("a migration outside a transaction runs statement by statement, beside others that wait to migrate", async () => {
  const database = await createTestDatabase("template1");
  const migrations = [
    { number: 1, name: "0001_first", sql: "create table big (id int)" },
    {
      number: 2,
      name: "0002_index",
      sql: `-- outside a transaction
drop index concurrently if exists big_id;
-- next
create index concurrently big_id on big (id);`,
    },
  ];
  const applied = await Promise.all([1, 2, 3].map(() => migrate(database.settings, { migrations })));
  assert.deepEqual(applied.flat(), ["0001_first", "0002_index"]);
  const client = new pg.Client(database.settings);
  await client.connect();
  const { rows } = await client.query(
    "select indisvalid from pg_index where indexrelid = 'big_id'::regclass",
  );
  assert.deepEqual(rows, [{ indisvalid: true }]);
  await client.end();
  await database.drop();
});

test("reading the schema changes nothing", async () => {
  const database = await createTestDatabase("template1");
  const empty = await readSchema(database.settings);
  assert.equal(empty.isEmpty, true);
  const client = new pg.Client(database.settings);
  await client.connect();
  const { rows } = await client.query("select 1 from pg_tables where schemaname = 'public'");
  assert.equal(rows.length, 0);
  await client.end();
  const first = { number: 1, name: "0001_first", sql: "create table a ()" };
  const second = { number: 2, name: "0002_second", sql: "create table b ()" };
  await migrate(database.settings, { migrations: [first] });
  assert.deepEqual(await readSchema(database.settings, [first, second]), {
    isEmpty: false,
    missing: ["0002_second"],
  });
  await database.drop();
});

test("the committed database types are those of the migrated database", async () => {
  const database = await createTestDatabase("template1");
  await migrate(database.settings);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["scripts/generate-db-types.ts", "--print"],
    {
      cwd: root,
      env: { ...process.env, DATABASE_URL: database.url },
    },
  );
  const committed = readFileSync(new URL("./types.ts", import.meta.url), "utf8");
  assert.ok(stdout === committed, "server/platform/db/types.ts is out of date; run npm run db:types");
  await database.drop();
});
