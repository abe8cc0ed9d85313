import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { createTestDatabase } from "../../test/support/database.ts";
import { DatabaseTooNewError, migrate, readMigrations } from "./migrate.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test("ten processes may migrate at once: each migration is applied once", async () => {
  const database = await createTestDatabase("template1");
  const script = `
    import { migrate } from "./server/db/migrate.ts";
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

test("a migration that fails leaves nothing of itself, and the next attempt goes on from there", async () => {
  const database = await createTestDatabase("template1");
  const good = { number: 1, name: "0001_good", sql: "create table a ()" };
  const bad = { number: 2, name: "0002_bad", sql: "create table b (); select 1/0" };
  await assert.rejects(migrate(database.settings, [good, bad]), /0002_bad failed: division by zero/);
  const mended = { ...bad, sql: "create table b ()" };
  assert.deepEqual(await migrate(database.settings, [good, mended]), ["0002_bad"]);
  assert.deepEqual(await migrate(database.settings, [good, mended]), []);
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
  assert.ok(stdout === committed, "server/db/types.ts is out of date; run npm run db:types");
  await database.drop();
});
