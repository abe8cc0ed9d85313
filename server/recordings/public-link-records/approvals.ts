import { sql } from "kysely";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Tx } from "../../platform/db/database.ts";
import { hasRight } from "../recordings/rights.ts";
import { endMs } from "./clips.ts";
import type { LinkValues } from "./queries.ts";

/** Filters highlights to those of recordings that the principal may share; seeing a recording is not enough to publish it. */
export async function findShareable(
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
  return rows.filter((row) => hasRight(principal, "share", row)).map((row) => row.id);
}

/** Approves the current range and text of highlights for these links, as far as the principal may share the recordings. */
export async function approve(
  tx: Tx,
  principal: Principal,
  linkIds: readonly string[],
  highlightIds: readonly string[],
): Promise<void> {
  if (linkIds.length === 0 || highlightIds.length === 0) return;
  const ids = await findShareable(tx, principal, highlightIds);
  await sql`
    insert into public_link_highlights as c (link_id, highlight_id, start_ms, end_ms, text)
    select l.id, h.id, h.start_ms, ${sql.raw(endMs)}, h.text
    from unnest(${[...linkIds]}::uuid[]) as l (id), highlights h
    where h.id = any(${ids}::uuid[])
    on conflict (link_id, highlight_id) do update
      set start_ms = excluded.start_ms, end_ms = excluded.end_ms, text = excluded.text`.execute(tx);
}

/** Approves a highlight's new range for its links; call it when a user who may share the recording has set it. */
export async function approveRange(tx: Tx, highlightId: string): Promise<void> {
  await sql`
    update public_link_highlights c set start_ms = h.start_ms, end_ms = ${sql.raw(endMs)}
    from highlights h where h.id = ${highlightId} and c.highlight_id = h.id`.execute(tx);
}

/** Approves a highlight's new text for its links; call it when a user who may share the recording has written it. */
export async function approveText(tx: Tx, highlightId: string): Promise<void> {
  await sql`
    update public_link_highlights c set text = h.text
    from highlights h where h.id = ${highlightId} and c.highlight_id = h.id`.execute(tx);
}

/** Whether a link with the new values shows more, or to more people, than with the old ones. */
export function isLessRestrictive(values: LinkValues, before: LinkValues): boolean {
  const [expires, expired] = [values.expires_at?.getTime(), before.expires_at?.getTime()];
  return (
    (before.password_hash !== null && values.password_hash !== before.password_hash) ||
    (expired !== undefined && (expires ?? Number.POSITIVE_INFINITY) > expired) ||
    (values.allow_download && !before.allow_download)
  );
}

/** Withdraws approvals of highlights that the principal may not share; call it when a link becomes less restrictive. */
export async function withdrawUnshareable(tx: Tx, principal: Principal, linkId: string): Promise<void> {
  const { rows } = await sql<{ highlight_id: string }>`
    select highlight_id from public_link_highlights where link_id = ${linkId}`.execute(tx);
  const ids = await findShareable(
    tx,
    principal,
    rows.map((row) => row.highlight_id),
  );
  await sql`
    delete from public_link_highlights
    where link_id = ${linkId} and highlight_id <> all(${ids}::uuid[])`.execute(tx);
}

/** Withdraws approvals of highlights that are no longer in the story; adding one again needs a new approval. */
export async function withdrawRemoved(tx: Tx, storyId: string): Promise<void> {
  await sql`
    delete from public_link_highlights c using public_links l
    where l.id = c.link_id and l.story_id = ${storyId} and not exists (
      select 1 from story_highlights sh where sh.story_id = l.story_id and sh.highlight_id = c.highlight_id)`.execute(
    tx,
  );
}
