import type pg from "pg";

/** Recordings indexed in one transaction; each of them waits for it to end when it is changed meanwhile. */
const atOnce = 20;

/**
 * Indexes recordings from before there was a search, newest first, until none is left or the signal comes. May run in
 * several processes at once; what was not committed is done again.
 * @returns how many were indexed.
 */
export async function indexBacklog(pool: pg.Pool, signal: AbortSignal): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    const { rows } = await pool.query<{ count: number }>(
      `with taken as (
         delete from search_backlog where recording_id = any(array(
           select b.recording_id from search_backlog b order by b.recording_id desc
           limit ${atOnce} for update skip locked))
         returning recording_id)
       select parley_search_note(array_agg(recording_id), true, true), count(*)::integer as count from taken`,
    );
    const taken = rows[0]?.count ?? 0;
    if (taken === 0) return count;
    count += taken;
  }
  return count;
}

/** Merges what is new into the index, so that no change of a recording has to wait for it. Nothing to do: no cost. */
export async function mergePending(pool: pg.Pool): Promise<void> {
  await pool.query("select gin_clean_pending_list('search_recordings_words'::regclass)");
}
