import type pg from "pg";

/** Merges pending entries into the index, so that no request has to. Costs nothing when there are none. */
export async function mergePending(pool: pg.Pool): Promise<void> {
  await pool.query("select gin_clean_pending_list('search_recordings_words'::regclass)");
}
