import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import type { ConnectionSettings } from "../../platform/db/database.ts";
import { loadDatabase } from "./load.ts";
import { openSnapshot } from "./snapshot.ts";

/** The constraints, indexes and enabled triggers of a database. */
async function describeSchema(settings: ConnectionSettings): Promise<string[]> {
  const client = new pg.Client(settings);
  await client.connect();
  const { rows } = await client.query<{ text: string }>(
    `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) as text from pg_constraint where conrelid > 0
     union all select indexdef from pg_indexes where schemaname = 'public'
     union all select concat_ws(' ', tgrelid::regclass, tgname, tgenabled) from pg_trigger where not tgisinternal
     order by 1`,
  );
  await client.end();
  return rows.map(({ text }) => text);
}

test("a loaded database has every key, index and trigger, whatever is known of the number of rows", async () => {
  const from = await createTestDatabase();
  const to = await createTestDatabase("template1");
  const snapshot = await openSnapshot(from.settings);
  const filled = ["installation", "schema_migrations"];
  const rowsOf = (name: string, index: number) =>
    filled.includes(name) ? 1 : [0, undefined, 10_000][index % 3];
  const tables = snapshot.tables.map(({ name, columns }, index) => {
    const rows = rowsOf(name, index);
    return { name, columns, ...(rows !== undefined && { rows }) };
  });
  await loadDatabase(
    to.settings,
    { ...snapshot, tables, open: (table) => snapshot.readTable(table, () => {}) },
    { replace: false, finish: async () => {} },
  ).finally(() => snapshot.close());
  assert.deepEqual(await describeSchema(to.settings), await describeSchema(from.settings));
  await Promise.all([from.drop(), to.drop()]);
});
