import type pg from "pg";

/** Columns of the job queue's table, in which pg-boss keeps its jobs. Empty if there is no queue yet. */
export async function jobColumns(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select a.attname::text as name from pg_attribute a
    where a.attrelid = to_regclass('pgboss.job') and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by a.attnum`);
  return rows.map(({ name }) => name);
}
