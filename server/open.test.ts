import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pino from "pino";
import { createTestDatabase } from "../test/support/database.ts";
import { openDatabaseForTool } from "./open.ts";
import { readConfig } from "./platform/config/config.ts";
import { readMigrations, readSchema } from "./platform/db/migrate.ts";

const log = pino({ level: "silent" });
const database = await createTestDatabase("template1");
const dataDir = mkdtempSync(join(tmpdir(), "parley-open-"));
after(async () => {
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

test("commands refuse a database of an older version and leave it unchanged", async () => {
  const config = readConfig({ PARLEY_DATABASE_URL: database.url, PARLEY_DATA_DIR: dataDir }, dataDir);
  const opened = await openDatabaseForTool(config, log);
  await opened.close();
  const next = { number: 9999, name: "9999_next", sql: "create table next (id integer)" };
  const migrations = [...readMigrations(), next];
  await assert.rejects(
    openDatabaseForTool(config, log, migrations),
    /^Error: the database is from an older version: it lacks 9999_next\..*`parley migrate`$/,
  );
  assert.deepEqual(await readSchema(database.settings, migrations), {
    isEmpty: false,
    isNewer: false,
    missing: ["9999_next"],
    unfinished: [],
  });
});
