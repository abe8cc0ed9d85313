import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pino from "pino";
import { createTestDatabase } from "../test/support/database.ts";
import { isFullRun } from "../test/support/full.ts";
import { openConfiguredDatabase, openDatabaseForTool, upgradeDatabase } from "./open.ts";
import { readConfig } from "./platform/config/config.ts";
import { migrate, readMigrations, readSchema } from "./platform/db/migrate.ts";

const log = pino({ level: "silent" });
const database = await createTestDatabase("template1");
const dataDir = mkdtempSync(join(tmpdir(), "parley-open-"));
after(async () => {
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

test("eight processes that start together on an empty database all come up", async () => {
  const rounds = isFullRun ? 20 : 4;
  for (let round = 0; round < rounds; round += 1) {
    const empty = await createTestDatabase("template1");
    const config = readConfig({ PARLEY_DATABASE_URL: empty.url, PARLEY_DATA_DIR: dataDir }, dataDir);
    const all = await Promise.all(
      Array.from({ length: 8 }, () => openConfiguredDatabase(config, "server", log)),
    );
    // Every other round only the tables of the queue are missing, so that all eight reach them at the same time.
    if (round % 2 === 1) await migrate(empty.settings);
    const migrated = await Promise.all(all.map((opened) => upgradeDatabase(opened, config, log)));
    assert.equal(migrated.filter((names) => names.length > 0).length, 1 - (round % 2));
    for (const opened of all) await opened.close();
    await empty.drop();
  }
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
