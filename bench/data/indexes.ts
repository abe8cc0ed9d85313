import type pg from "pg";

/** The tables that are filled by the million; `recordings` keeps its key, since others refer to it. */
const bulkTables = [
  "recordings",
  "participants",
  "recording_recorders",
  "recording_user_shares",
  "recording_teams",
  "highlights",
  "recording_grants",
] as const;

interface Definition {
  readonly drop: string;
  readonly create: string;
}

/**
 * Drops every index of the bulk tables that nothing depends on. Sorting once at the end is several times faster
 * than keeping an index in order row by row.
 * @returns the statements that make them again, word for word as the migrations have them.
 */
export async function dropIndexes(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<Definition>(
    `select format('drop index %s', i.indexrelid::regclass) as drop, pg_get_indexdef(i.indexrelid) as create
     from pg_index i
     where i.indrelid = any($1::regclass[])
       and not exists (select 1 from pg_constraint c where c.conindid = i.indexrelid)
     union all
     select format('alter table %s drop constraint %I', c.conrelid::regclass, c.conname),
            format('alter table %s add constraint %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
     from pg_constraint c
     where c.contype = 'p' and c.conrelid = any($1::regclass[])
       and not exists (select 1 from pg_constraint f where f.contype = 'f' and f.confrelid = c.conrelid)`,
    [bulkTables],
  );
  for (const { drop } of rows) await client.query(drop);
  return rows.map((row) => row.create);
}

/** Runs the statements that `dropIndexes` returned. */
export async function createIndexes(
  client: pg.Client,
  statements: readonly string[],
  say: (text: string) => void,
): Promise<void> {
  for (const statement of statements) {
    say(statement.replace(/ (USING|PRIMARY KEY|INCLUDE).*/, "").toLowerCase());
    await client.query(statement);
  }
}
