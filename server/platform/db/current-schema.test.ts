import assert from "node:assert/strict";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";

/**
 * The functions and triggers of the database as they are after all migrations, to read in one place: migrations/current/ has
 * a file for each topic. A migration that changes one contains its new text; UPDATE_DOCS=1 then writes it here as well.
 */
const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = join(root, "migrations", "current");

/** What a statement of these files creates: `function NAME(types)` or `trigger NAME on TABLE`. */
interface Definition {
  readonly name: string;
  readonly text: string;
}

const database = await createTestDatabase();
const client = new pg.Client(database.settings);
await client.connect();
after(async () => {
  await client.end();
  await database.drop();
});

async function readDefinitions(): Promise<Definition[]> {
  const { rows } = await client.query<Definition>(`
    select 'function ' || p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as text
    from pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and not exists (select 1 from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    union all
    select 'trigger ' || t.tgname || ' on ' || t.tgrelid::regclass::text, pg_get_triggerdef(t.oid)
    from pg_trigger t
    where not t.tgisinternal and t.tgrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    order by 1`);
  return rows.map(({ name, text }) => ({ name, text: text.trim() }));
}

/** A file is definitions, each after a line \`-- NAME\`. */
function render(definitions: readonly Definition[]): string {
  return definitions.map(({ name, text }) => `-- ${name}\n${text};\n`).join("\n");
}

const topics = globSync("*.sql", { cwd: folder }).sort();
const files = new Map(topics.map((topic) => [topic, readFileSync(join(folder, topic), "utf8")]));
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^-- ((?:function|trigger) .*)$/gm)].map(([, name = ""]) => name);

test("migrations/current has exactly the functions and triggers of a migrated database", async () => {
  const definitions = await readDefinitions();
  assert.ok(definitions.length > 50);
  if (process.env.UPDATE_DOCS !== undefined) {
    for (const [topic, text] of files) {
      const names = new Set(namesIn(text));
      const own = definitions.filter(({ name }) => names.has(name));
      files.set(topic, render(own));
      writeFileSync(join(folder, topic), render(own));
    }
  }
  const written = [...files].flatMap(([topic, text]) => {
    const names = namesIn(text);
    assert.deepEqual(names, [...new Set(names)], topic);
    const own = definitions.filter(({ name }) => names.includes(name));
    assert.equal(
      text,
      render(own),
      `${topic} is out of date: UPDATE_DOCS=1 npm test server/platform/db/current-schema.test.ts`,
    );
    return names;
  });
  assert.deepEqual(
    written.toSorted(),
    definitions.map(({ name }) => name).toSorted(),
    "one is missing: add a line `-- NAME` to the file of its topic, then UPDATE_DOCS=1",
  );
});

test("ARCHITECTURE.md names every function and trigger of the database", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const names = [...files.values()]
    .flatMap(namesIn)
    .map((name) => /^(?:function|trigger) (\w+)/.exec(name)?.[1] ?? name);
  assert.deepEqual(
    [...new Set(names)].filter((name) => !page.includes(`\`${name}\``)),
    [],
  );
});
