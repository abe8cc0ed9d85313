import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";

const { db } = await startTestApp();

interface Table {
  readonly name: string;
  /** The first columns of its primary key and of unique indexes over all rows. */
  readonly leads: readonly string[];
  /** Tables that such a first column refers to, where it is never null. */
  readonly parents: readonly string[];
}

async function readTables(): Promise<Table[]> {
  const { rows } = await db.pool.query<Table>(`
    with leads as (
      select i.indrelid as table_id, i.indkey[0] as number from pg_index i
      where i.indisunique and i.indisvalid and i.indpred is null
    )
    select c.relname as name,
      array(select a.attname::text from leads l join pg_attribute a
        on a.attrelid = l.table_id and a.attnum = l.number where l.table_id = c.oid) as leads,
      array(select f.confrelid::regclass::text from leads l
        join pg_attribute a on a.attrelid = l.table_id and a.attnum = l.number and a.attnotnull
        join pg_constraint f on f.conrelid = l.table_id and f.contype = 'f' and f.conkey = array[l.number]
        where l.table_id = c.oid) as parents
    from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
    order by c.relname`);
  return rows;
}

/** The table of exceptions in docs/operations/tables.md. */
function readExceptions(): string[] {
  const page = readFileSync(new URL("../../../docs/operations/tables.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("### Exceptions\n");
  return section
    .split("\n## ", 1)[0]
    ?.split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) =>
      [...(line.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ""),
    ) as string[];
}

test("every table's key leads with the workspace, or with a row whose key does, or docs/operations/tables.md says why not", async () => {
  const tables = await readTables();
  assert.ok(tables.length > 50);
  const keyed = new Set(["workspaces"]);
  for (const { name, leads } of tables) if (leads.includes("workspace_id")) keyed.add(name);
  for (let before = 0; before < keyed.size; ) {
    before = keyed.size;
    for (const { name, parents } of tables) if (parents.some((parent) => keyed.has(parent))) keyed.add(name);
  }
  const others = tables.map(({ name }) => name).filter((name) => !keyed.has(name));
  assert.deepEqual(readExceptions().sort(), others);
});
