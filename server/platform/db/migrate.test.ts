import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import { until } from "../../../test/support/until.ts";
import {
  finishMigrations,
  MigrationFailedError,
  migrate,
  neededVersion,
  readMigrations,
  readSchema,
  UnfitDatabaseError,
} from "./migrate.ts";
import { DatabaseTooNewError, isOlder } from "./oldest-version.ts";

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

/** A database with one row in `installation`, as far as these tests need it. */
const installation = {
  number: 1,
  name: "0001_installation",
  sql: "create table installation (oldest_version text); insert into installation default values; create table old ()",
};
const added = { number: 2, name: "0002_added", sql: "create table added ()" };
const finish = { number: 3, name: "0003_finish", sql: "-- finish: needs 1.10.0\ndrop table old" };
const later = { number: 4, name: "0004_later", sql: "create table later ()" };

async function tablesOf(settings: pg.ClientConfig): Promise<string[]> {
  const client = new pg.Client(settings);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  );
  await client.end();
  return rows.map(({ name }) => name);
}

test("an older program runs on a newer database until a finishing migration needs a newer program", async () => {
  const { settings, drop } = await createTestDatabase("template1");
  const newer = [installation, added, finish, later];
  await migrate(settings, { migrations: [installation] });
  const names = await migrate(settings, { migrations: newer, version: "1.10.0" });
  assert.deepEqual(names, ["0002_added", "0004_later"]);
  assert.deepEqual(await migrate(settings, { migrations: [installation], version: "1.9.9" }), []);
  assert.equal((await readSchema(settings, [installation])).isNewer, true);
  assert.deepEqual((await readSchema(settings, newer)).unfinished, ["0003_finish"]);

  const raised: string[] = [];
  const finished = await finishMigrations(settings, {
    migrations: newer,
    version: "1.10.0",
    waitMs: 0,
    onWait: (version) => raised.push(version),
  });
  assert.deepEqual([finished, raised], [["0003_finish"], ["1.10.0"]]);
  assert.deepEqual(await tablesOf(settings), ["added", "installation", "later", "schema_migrations"]);
  await assert.rejects(
    migrate(settings, { migrations: [installation], version: "1.9.9" }),
    (error) =>
      error instanceof DatabaseTooNewError && /needs Parley 1\.10\.0.*this is 1\.9\.9/.test(error.message),
  );
  assert.deepEqual(await migrate(settings, { migrations: newer, version: "1.10.0" }), []);
  assert.deepEqual(await finishMigrations(settings, { migrations: newer, version: "1.11.0" }), []);
  await drop();
});

test("older programs are refused before a finishing migration runs, and allowed again if it fails", async () => {
  const { settings, drop } = await createTestDatabase("template1");
  const bad = { ...finish, sql: `${finish.sql}; select 1/0` };
  await migrate(settings, { migrations: [installation] });
  let refused: unknown;
  await assert.rejects(
    finishMigrations(settings, {
      migrations: [installation, bad],
      version: "1.10.0",
      waitMs: 300,
      onWait: () => {
        refused = assert.rejects(readOldest(settings), DatabaseTooNewError);
      },
    }),
    /0003_finish failed: division by zero/,
  );
  await refused;
  await readOldest(settings);
  assert.deepEqual(await tablesOf(settings), ["installation", "old", "schema_migrations"]);
  await drop();
});

/** Looks at the schema as the oldest version does. */
const readOldest = (settings: pg.ClientConfig) => readSchema(settings, [installation], "1.0.0");

test("an empty database gets the finishing migrations at once", async () => {
  const { settings, drop } = await createTestDatabase("template1");
  const all = [installation, added, finish];
  assert.equal((await migrate(settings, { migrations: all, version: "1.10.0" })).length, 3);
  await assert.rejects(readOldest(settings), DatabaseTooNewError);
  await drop();
});

test("each migration has a number of its own", () => {
  const numbers = readMigrations().map(({ number }) => number);
  assert.deepEqual(numbers, [...new Set(numbers)]);
});

test("migrations only add; what removes something is a finishing migration in one transaction", () => {
  const removes =
    /\b(drop (table|column|type|function)|rename|alter column \w+ (set not null|type)|set data type)\b/i;
  for (const migration of readMigrations().slice(1)) {
    const code = migration.sql.replace(/^\s*--.*/gm, "");
    if (neededVersion(migration) === null) assert.doesNotMatch(code, removes, migration.name);
    else assert.doesNotMatch(migration.sql, /^-- outside a transaction/, migration.name);
  }
});

test("a database with the migrations of a development version is refused, and left as it is", async () => {
  const database = await createTestDatabase("template1");
  const foundation = { number: 1, name: "0001_foundation", sql: "create table recordings ()" };
  const media = { number: 2, name: "0002_media", sql: "alter table recordings add column media text" };
  await migrate(database.settings, { migrations: [foundation, media] });
  const isRefusal = (error: unknown): boolean =>
    error instanceof UnfitDatabaseError &&
    /0001_foundation instead of 0001_schema.*the Parley that created it.*empty database.*`parley import --from grain --base-url URL`/.test(
      error.message,
    );
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

test("a migration that fails undoes those before it too, and the next attempt applies all", async () => {
  const { settings, drop } = await createTestDatabase("template1");
  const bad = { number: 3, name: "0003_bad", sql: "create table bad (); select 1/0" };
  await migrate(settings, { migrations: [installation] });
  const before = await tablesOf(settings);
  await assert.rejects(
    migrate(settings, { migrations: [installation, added, bad] }),
    /^Error: migration 0003_bad failed: division by zero\. The database is as it was before\./,
  );
  assert.deepEqual(await tablesOf(settings), before);
  assert.deepEqual(await migrate(settings, { migrations: [installation] }), []);
  const mended = { ...bad, sql: "create table bad ()" };
  const all = [installation, added, mended];
  assert.deepEqual(await migrate(settings, { migrations: all }), ["0002_added", "0003_bad"]);
  assert.deepEqual(await migrate(settings, { migrations: all }), []);
  await drop();
});

test("a failure after a migration outside a transaction names what the database has", async () => {
  const { settings, drop } = await createTestDatabase("template1");
  const outside = { ...added, sql: `-- outside a transaction\n${added.sql}` };
  const bad = { number: 3, name: "0003_bad", sql: "select 1/0" };
  await migrate(settings, { migrations: [installation] });
  await assert.rejects(
    migrate(settings, { migrations: [installation, outside, bad] }),
    /The database has 0002_added of the new version, which the previous one ignores/,
  );
  assert.deepEqual(await migrate(settings, { migrations: [installation] }), []);
  await drop();
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

test("an interrupted migration outside a transaction keeps the indexes that it has built, and says what it waits for", async () => {
  const database = await createTestDatabase("template1");
  const first = {
    number: 1,
    name: "0001_first",
    sql: "create table big (id int); create table other (id int)",
  };
  const build = (name: string, table: string): string => `drop index concurrently if exists ${name};
-- next
create unique index concurrently ${name} on ${table} (id);`;
  const second = {
    number: 2,
    name: "0002_index",
    sql: `-- outside a transaction\n${build("big_id", "big")}\n-- next\n${build("other_id", "other")}`,
  };
  await migrate(database.settings, { migrations: [first] });
  const client = new pg.Client({ ...database.settings, application_name: "harbour" });
  await client.connect();
  await client.query("insert into other values (1), (1)");
  const migrations = [first, second];
  await assert.rejects(
    migrate(database.settings, { migrations }),
    /could not create unique index "other_id"/,
  );
  const readIndex = async () => (await client.query("select 'big_id'::regclass::oid as id")).rows;
  const before = await readIndex();
  await client.query("delete from other");
  await client.query("begin; lock table other in row exclusive mode");
  const waits: string[] = [];
  const blocked = migrate(database.settings, {
    migrations,
    blockerCheckMs: 50,
    onRetry: (message) => waits.push(message),
  });
  await until("the migration says what it waits for", () => waits.length > 0);
  await client.query("commit");
  assert.deepEqual(await blocked, ["0002_index"]);
  assert.match(
    waits[0] ?? "",
    /0002_index waits for the database session \d+ \(harbour, in a transaction since 2/,
  );
  assert.deepEqual(await readIndex(), before);
  await client.end();
  await database.drop();
});

test("a migration may take longer than the role's time limits for statements", async () => {
  const database = await createTestDatabase("template1");
  const client = new pg.Client(database.settings);
  await client.connect();
  await client.query(
    `alter role current_user in database ${database.settings.database} set statement_timeout = '100ms'`,
  );
  await client.end();
  const slow = { number: 1, name: "0001_slow", sql: "select pg_sleep(0.3)" };
  assert.deepEqual(await migrate(database.settings, { migrations: [slow] }), ["0001_slow"]);
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
    isNewer: false,
    missing: ["0002_second"],
    unfinished: [],
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

test("versions are compared by their numbers, and a prerelease is older than its release", () => {
  const ascending = ["1.2.0", "1.10.0-beta.2", "1.10.0-beta.10", "1.10.0-rc.1", "1.10.0", "1.10.1", "2.0.0"];
  for (const [index, version] of ascending.entries()) {
    assert.equal(isOlder(version, version), false, version);
    for (const later of ascending.slice(index + 1)) {
      assert.equal(isOlder(version, later), true, `${version} before ${later}`);
      assert.equal(isOlder(later, version), false, `${later} after ${version}`);
    }
  }
});
