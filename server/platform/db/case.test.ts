import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import pg from "pg";
import { foldCase, foldName } from "../../../shared/fold-case.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/support/database.ts";
import { migrate, readMigrations } from "./migrate.ts";

/** A database in which I and i are different letters. */
const turkish = "template0 locale_provider icu icu_locale 'tr-TR'";

async function withPool<T>(database: TestDatabase, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool(database.settings);
  try {
    return await work(pool);
  } finally {
    await pool.end();
    await database.drop();
  }
}

/** Letters of scripts with case, from the Unicode that all supported versions of PostgreSQL know. */
const letters = [
  [0x20, 0x58f],
  [0x1e00, 0x1fff],
  [0x2c80, 0x2cb0],
  [0xff21, 0xff5a],
  [0x10400, 0x1044f],
].flatMap(([from = 0, to = 0]) =>
  Array.from({ length: to - from + 1 }, (_, n) => String.fromCodePoint(from + n)),
);

test("PostgreSQL and TypeScript fold the case of keys alike, in a Turkish database too", async () => {
  const texts = [
    ...letters,
    "IREM@EXAMPLE.COM",
    "ΟΔΟΣ ΟΔΟΣ",
    "İstanbul",
    "ISPARTA ışık",
    "STRASSE ẞ ß",
    "Ísland",
  ];
  for (const template of [undefined, turkish]) {
    const database = await createTestDatabase(template);
    await withPool(database, async (pool) => {
      if (template !== undefined) await migrate(database.settings);
      const { rows } = await pool.query<{ key: string; fold: string; words: string[] }>(
        `select parley_lower(t) as key, parley_fold(t) as fold,
           tsvector_to_array(parley_search_vector(parley_search_clean(t))) as words
         from unnest($1::text[]) with ordinality as t (t, n) order by n`,
        [texts],
      );
      assert.deepEqual(
        rows.map(({ key }) => key),
        texts.map(foldCase),
      );
      assert.deepEqual([rows.at(-1)?.fold, rows.at(-1)?.words], ["island", ["island"]]);
      assert.deepEqual(rows.at(-6)?.words, ["com", "example", "irem"]);
    });
  }
});

test("after the upgrade of a Turkish database, capitals make no difference and rows that collide are all kept", async () => {
  const database = await createTestDatabase(turkish);
  await withPool(database, async (pool) => {
    const old = readMigrations().filter(({ number }) => number < 39);
    await migrate(database.settings, { migrations: old });
    const workspace = randomUUID();
    const insert = (text: string, ...values: unknown[]) =>
      pool.query(text, [randomUUID(), workspace, ...values]);
    await pool.query("insert into workspaces (id, name, members_id) values ($1, 'W', $2)", [
      workspace,
      randomUUID(),
    ]);
    const account =
      "insert into users (id, workspace_id, name, email, role, last_signed_in_at) values ($1, $2, $3, $4, 'member', $5)";
    await insert(account, "Unused", "IREM@EXAMPLE.COM", null);
    await insert(account, "Used", "irem@example.com", "2026-01-01T00:00:00Z");
    await insert(account, "Alone", "IDA@EXAMPLE.COM", null);
    // The last of them has the name that the second would get.
    for (const name of ["IT", "it", "INVEST", "it (2)"])
      await insert("insert into teams (id, workspace_id, name) values ($1, $2, $3)", name);
    for (const title of ["RISIKEN", "Risiken"])
      await insert(
        "insert into section_templates (id, workspace_id, title, kind, prompt, position) values ($1, $2, $3, 'text', 'p', 0)",
        title,
      );
    await migrate(database.settings);

    const find = async (email: string) =>
      (await pool.query("select name from users where email_key = parley_lower($1)", [email])).rows.map(
        ({ name }) => name,
      );
    assert.deepEqual(await find("Irem@Example.com"), ["Used"]);
    assert.deepEqual(await find("ida@example.com"), ["Alone"]);
    const { rows: users } = await pool.query("select name from users order by name");
    assert.equal(users.length, 3);
    await pool.query("update users set email = 'IREM2@example.com' where name = 'Unused'");
    assert.deepEqual(await find("irem2@EXAMPLE.com"), ["Unused"]);
    const { rows: teams } = await pool.query("select name, name_key from teams order by name_key");
    assert.deepEqual(
      teams.map(({ name_key }) => name_key),
      ["invest", "it", "it (2)", "it (3)"],
    );
    const { rows: sections } = await pool.query("select title_key from section_templates order by title_key");
    assert.deepEqual(
      sections.map(({ title_key }) => title_key),
      ["risiken", "risiken (2)"],
    );
    await assert.rejects(insert(account, "Twice", "IDA@example.com", null), /duplicate key value/);
  });
});

test("names are compared composed or not, with or without capitals", () => {
  const name = "Zoë Ibáñez";
  assert.equal(foldName(` ${name.normalize("NFD").toUpperCase()} `), foldName(name.normalize("NFC")));
});
