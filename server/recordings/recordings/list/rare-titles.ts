import type { Queryable } from "../../../platform/db/replica.ts";

/** If more of the newest recordings than this match a title search, the stream of recordings fills a page soon. */
const minCommon = 10;

/** How many of the newest recordings are looked at for that. */
const sampleSize = 1000;

/** Above this, reading the stream is cheaper than looking up each recording. */
const maxRare = 1000;

/** Whether the trigram index serves a title search: it needs three letters or digits in a row. */
export function hasTrigram(search: string): boolean {
  return /[\p{L}\p{N}]{3}/u.test(search);
}

/**
 * The recordings of a workspace whose title contains a text that has no trigram, if they are so rare that reading all
 * recordings in order would take long to fill a page.
 * @returns their ids, also of recordings that the caller can't see; null if there are many or the text has a trigram.
 */
export async function findRareTitles(
  source: Queryable,
  workspaceId: string,
  search: string | undefined,
): Promise<readonly string[] | null> {
  if (search === undefined || hasTrigram(search)) return null;
  const { rows } = await source.query<{ ids: string[] | null }>({
    text: `with newest as materialized (
        select r.title_key from recording_grants g join recordings r on r.id = g.recording_id where g.principal_id = $1
        order by g.start_datetime desc, g.recording_id desc limit ${sampleSize})
      select case when (select count(*) from newest where strpos(title_key, parley_fold($2)) > 0) < ${minCommon} then array(
        select r.id from recordings r
        where r.workspace_id = $1 and parley_letter_pairs(r.title_key) @> parley_letter_pairs(parley_fold($2))
          and strpos(r.title_key, parley_fold($2)) > 0
        limit ${maxRare + 1}) end as ids`,
    values: [workspaceId, search],
  });
  const ids = rows[0]?.ids ?? null;
  return ids === null || ids.length > maxRare ? null : ids;
}
