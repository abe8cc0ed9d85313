import { sql } from "kysely";
import { idBytes } from "../../../platform/crypto/keyring.ts";
import type { Executor } from "../../../platform/db/database.ts";

/** Where encrypted values are stored. Its parts are SQL of this file. */
interface EncryptedValues {
  /** As in `hooks.secret`. */
  readonly name: string;
  readonly table: string;
  /** The value, as bytea. */
  readonly value: string;
  /** Sets it to `v.new`. */
  readonly set: string;
  /** Which rows have one. */
  readonly where: string;
}

function column(table: string, name: string): EncryptedValues {
  return {
    name: `${table}.${name}`,
    table,
    value: `t.${name}`,
    set: `${name} = v.new`,
    where: `t.${name} is not null`,
  };
}

/**
 * Everything in the database that is encrypted with PARLEY_SECRET. A rotation encrypts it again; a test finds columns that
 * are missing here.
 */
export const encryptedValues: readonly EncryptedValues[] = [
  column("installation", "link_keys"),
  column("installation", "sign_in_test_passed"),
  column("settings", "encrypted"),
  column("setting_changes", "previous"),
  column("second_factors", "encrypted_secret"),
  column("hooks", "secret"),
  column("hooks", "previous_secret"),
  column("hooks", "credentials"),
  column("destinations", "url"),
  column("calendars", "secrets"),
  column("connections", "secrets"),
  column("connection_events", "payload"),
  column("import_runs", "token"),
  column("erasures", "person"),
  {
    name: "jobs.data",
    table: "jobs",
    value: "decode(t.data ->> 'encrypted', 'base64')",
    set: "data = jsonb_set(t.data, '{encrypted}', to_jsonb(translate(encode(v.new, 'base64'), E'\\n', '')))",
    where: "t.name = 'send_mail' and t.data ->> 'encrypted' ~ '^[A-Za-z0-9+/]+={0,2}$'",
  },
];

/** A stored value, and the row it is in as long as nobody changes that. */
interface StoredValue {
  readonly row: string;
  readonly value: Buffer;
}

/** Values read at a time, and pages of a table: sorting all rows for each batch would take quadratic time. */
const [batchSize, batchPages] = [200, 64];

/** Values that are not encrypted with the secret of this id, in batches. Replacing those of a batch skips none. */
export async function* findOthers(
  db: Executor,
  { table, value, where }: EncryptedValues,
  keyId: Buffer,
): AsyncGenerator<readonly [StoredValue, ...StoredValue[]]> {
  for (let page = 0; page < (await countPages(db, table)); page += batchPages) {
    let after = `(${page},0)`;
    for (;;) {
      const { rows } = await sql<StoredValue>`
        select t.ctid::text as row, ${sql.raw(value)} as value from ${sql.table(table)} t
        where t.ctid > ${after}::tid and t.ctid < ${`(${page + batchPages},0)`}::tid and ${sql.raw(where)}
          and substring(${sql.raw(value)} from 1 for ${sql.lit(idBytes)}) <> ${keyId}
        order by t.ctid limit ${batchSize}`.execute(db);
      const [first, ...rest] = rows;
      if (first === undefined) break;
      after = rest.at(-1)?.row ?? first.row;
      yield [first, ...rest];
    }
  }
}

async function countPages(db: Executor, table: string): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select (pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint)::integer as pages`.execute(
    db,
  );
  return rows[0]?.pages ?? 0;
}

/** How many values there are, and how many of them are not encrypted with the secret of this id. */
export async function countValues(
  db: Executor,
  { table, value, where }: EncryptedValues,
  keyId: Buffer,
): Promise<{ readonly total: number; readonly others: number }> {
  const { rows } = await sql<{ total: number; others: number }>`
    select count(*)::integer as total,
      (count(*) filter (
        where substring(${sql.raw(value)} from 1 for ${sql.lit(idBytes)}) <> ${keyId}))::integer as others
    from ${sql.table(table)} t where ${sql.raw(where)}`.execute(db);
  return rows[0] ?? { total: 0, others: 0 };
}

/** Replaces values that nobody has changed meanwhile. @returns how many. */
export async function replaceValues(
  db: Executor,
  { table, value, set }: EncryptedValues,
  replaced: readonly (StoredValue & { readonly next: Buffer })[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} t set ${sql.raw(set)}
    from unnest(
      ${replaced.map(({ row }) => row)}::text[]::tid[],
      ${replaced.map(({ value: old }) => old)}::bytea[],
      ${replaced.map(({ next }) => next)}::bytea[]) as v (row, old, new)
    where t.ctid = v.row and ${sql.raw(value)} = v.old`.execute(db);
  return Number(numAffectedRows ?? 0);
}
