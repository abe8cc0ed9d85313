import { sql } from "kysely";
import type { Principal } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import { mayChange } from "../recordings/rights.ts";
import { findStoryHighlights } from "../stories/queries.ts";
import { endMs } from "./clips.ts";
import type { LinkValues } from "./queries.ts";

/** Of these highlights, those of recordings that the principal may share: whoever only sees a recording can't publish it. */
async function findShareable(
  tx: Tx,
  principal: Principal,
  highlightIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string; is_recorder: boolean }>`
    select h.id, exists (select 1 from recording_recorders rr
      where rr.recording_id = h.recording_id and rr.user_id = ${principal.userId}) as is_recorder
    from highlights h
    where h.id = any(${[...highlightIds]}::uuid[]) and exists (select 1 from recording_grants g
      where g.recording_id = h.recording_id and g.principal_id = any(${principal.sees}::uuid[]))`.execute(tx);
  return rows.filter((row) => mayChange(principal, row)).map((row) => row.id);
}

/** How many highlights a story has, and how many of them a link that the principal makes now would show. */
export async function foresee(
  db: Database,
  principal: Principal,
  storyId: string,
): Promise<{ highlights: number; shareable: number }> {
  return db.kysely.transaction().execute(async (tx) => {
    const rows = await findStoryHighlights(tx, principal, storyId);
    const ids = rows.map((row) => row.highlight_id);
    return { highlights: ids.length, shareable: (await findShareable(tx, principal, ids)).length };
  });
}

/** Lets links show these highlights as they are now, as far as the principal may share their recordings. */
export async function agree(
  tx: Tx,
  principal: Principal,
  linkIds: readonly string[],
  highlightIds: readonly string[],
): Promise<void> {
  if (linkIds.length === 0 || highlightIds.length === 0) return;
  const ids = await findShareable(tx, principal, highlightIds);
  await sql`
    insert into public_link_clips as c (link_id, highlight_id, start_ms, end_ms)
    select l.id, h.id, h.start_ms, ${sql.raw(endMs)}
    from unnest(${[...linkIds]}::uuid[]) as l (id), highlights h
    where h.id = any(${ids}::uuid[])
    on conflict (link_id, highlight_id) do update set start_ms = excluded.start_ms, end_ms = excluded.end_ms`.execute(
    tx,
  );
}

/** Links that show a highlight show it as it is now: somebody who may share its recording has changed it. */
export async function agreeToChange(tx: Tx, highlightId: string): Promise<void> {
  await sql`
    update public_link_clips c set start_ms = h.start_ms, end_ms = ${sql.raw(endMs)}
    from highlights h where h.id = ${highlightId} and c.highlight_id = h.id`.execute(tx);
}

/** Whether a link lets people have more, or other people, than it did. */
export function isFreer(values: LinkValues, before: LinkValues): boolean {
  const [expires, expired] = [values.expires_at?.getTime(), before.expires_at?.getTime()];
  return (
    (before.password_hash !== null && values.password_hash !== before.password_hash) ||
    (expired !== undefined && (expires ?? Number.POSITIVE_INFINITY) > expired) ||
    (values.allow_download && !before.allow_download)
  );
}

/** A link that shows more freely than what was agreed to leaves out what the principal may not share. */
export async function forgetUnshareable(tx: Tx, principal: Principal, linkId: string): Promise<void> {
  const { rows } = await sql<{ highlight_id: string }>`
    select highlight_id from public_link_clips where link_id = ${linkId}`.execute(tx);
  const ids = await findShareable(
    tx,
    principal,
    rows.map((row) => row.highlight_id),
  );
  await sql`
    delete from public_link_clips
    where link_id = ${linkId} and highlight_id <> all(${ids}::uuid[])`.execute(tx);
}

/** What has left a story comes back only when somebody agrees anew. */
export async function forgetRemoved(tx: Tx, storyId: string): Promise<void> {
  await sql`
    delete from public_link_clips c using public_links l
    where l.id = c.link_id and l.story_id = ${storyId} and not exists (
      select 1 from story_highlights sh where sh.story_id = l.story_id and sh.highlight_id = c.highlight_id)`.execute(
    tx,
  );
}
