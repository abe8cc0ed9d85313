import type pg from "pg";

/** Any constant will do, as long as every process uses the same: one at a time indexes. */
const lock = 7_271_539_039;

/** Recordings of one transaction: few, because changes of these wait for it. */
const batchSize = 5;

/**
 * Indexes recordings again that were indexed by earlier rules (migration 0039), newest first. Costs nothing when there are
 * none.
 * @param maxMs begins no batch later than that.
 * @returns how many it indexed.
 */
export async function indexOutdated(pool: pg.Pool, maxMs: number): Promise<number> {
  const end = performance.now() + maxMs;
  let total = 0;
  while (performance.now() < end) {
    const { rows } = await pool.query<{ count: number }>({
      name: "index_outdated",
      text: `with held as materialized (select pg_try_advisory_xact_lock($1) as is_ours),
         due as materialized (
           select array(
             select recording_id from search_recordings where rules < 2 order by start_datetime desc limit ${batchSize}) as ids
           from held where is_ours)
       select cardinality(ids) as count, parley_search_mark_changed(ids, true, true) from due where cardinality(ids) > 0`,
      values: [lock],
    });
    if (rows[0] === undefined) break;
    total += rows[0].count;
  }
  return total;
}
