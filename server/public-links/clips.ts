import { sql } from "kysely";
import type { Database, Tx } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { recordingsPrefix } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";

/** Where a highlight ends in its recording. */
export const endMs = "least(h.start_ms::bigint + h.duration_ms, 2147483647)::integer";

/**
 * What links of highlights and stories show: rows of links `l`, the parts `c` agreed to, highlights `h`, and for stories
 * their place `sh`. A highlight that reaches beyond what was agreed to is none of them, nor one that has left the story.
 */
export const shownClips = `public_links l
  join public_link_clips c on c.link_id = l.id
  join highlights h on h.id = c.highlight_id and h.start_ms >= c.start_ms and ${endMs} <= c.end_ms
  left join story_highlights sh on sh.story_id = l.story_id and sh.highlight_id = h.id`;
export const isShown = "(l.highlight_id = h.id or sh.story_id is not null)";

/** Whether any link shows what is cut for a row of clip_files `f`. */
export const isNeeded = `exists (
  select 1 from ${shownClips}
  where c.highlight_id = f.highlight_id and h.start_ms = f.start_ms and ${endMs} = f.end_ms
    and ${isShown} and (l.expires_at is null or l.expires_at > now()))`;

/** Where the files of a clip lie: below the recording's own, so that they go with it. */
export function clipPrefix(recordingId: string, clipId: string): string {
  return `${recordingsPrefix}${recordingId}/clips/${clipId}/`;
}

/** So many files are asked for in one go; the next look finds the others. */
const mostAtOnce = 500;

/**
 * Has the files cut that links show and that are not there yet.
 * @param linkIds only for these; without, for all.
 */
export async function requestClips(tx: Tx, jobs: JobQueue, linkIds?: readonly string[]): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    insert into clip_files (recording_id, highlight_id, start_ms, end_ms)
    select distinct h.recording_id, h.id, h.start_ms, ${sql.raw(endMs)}
    from ${sql.raw(shownClips)}
    join recording_media m on m.recording_id = h.recording_id
    where ${sql.raw(isShown)} and (l.expires_at is null or l.expires_at > now())
      and (${linkIds === undefined} or l.id = any(${[...(linkIds ?? [])]}::uuid[]))
      and not exists (select 1 from clip_files f
        where f.highlight_id = h.id and f.start_ms = h.start_ms and f.end_ms = ${sql.raw(endMs)})
    limit ${mostAtOnce}
    on conflict (highlight_id, start_ms, end_ms) do nothing
    returning id`.execute(tx);
  for (const { id } of rows) await jobs.enqueue(tx, "render_clip", { clipId: id }, id);
  return rows.length;
}

/** The links that show a highlight, or would if somebody agreed. */
export async function findLinksOf(tx: Tx, highlightId: string): Promise<string[]> {
  const { rows } = await sql<{ link_id: string }>`
    select link_id from public_link_clips where highlight_id = ${highlightId}`.execute(tx);
  return rows.map((row) => row.link_id);
}

/** Tries again what could not be cut before. */
export async function retryFailed(tx: Tx, jobs: JobQueue, linkId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update clip_files f set state = 'preparing', error = null, kills = 0
    where f.state = 'failed'
      and f.highlight_id in (select highlight_id from public_link_clips where link_id = ${linkId})
    returning id`.execute(tx);
  for (const { id } of rows) await jobs.enqueue(tx, "render_clip", { clipId: id }, id);
}

interface Sweeping {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly log: { warn(detail: object, message: string): void };
}

/** A job begins within seconds; one that has not ended after this may be long, or lost. */
const restartAfterMs = 60_000;

/** Has cut what is missing, gives lost jobs back, and removes files that no link shows any more. */
export async function tendClips(deps: Sweeping): Promise<void> {
  const { db, jobs } = deps;
  const requested = await db.kysely.transaction().execute((tx) => requestClips(tx, jobs));
  const { rows } = await sql<{ id: string }>`
    select id from clip_files
    where state = 'preparing' and created_at < now() - ${restartAfterMs} * interval '1 millisecond'
    order by created_at limit ${mostAtOnce}`.execute(db.kysely);
  // The queue takes one only when no job for this file waits or runs.
  for (const { id } of rows)
    await db.kysely.transaction().execute((tx) => jobs.enqueue(tx, "render_clip", { clipId: id }, id));
  if (requested > 0) jobs.wake();
  await removeUnneeded(deps);
}

/** What is left of an object whose row went, the sweep of orphans removes (uploads/orphans.ts). */
async function removeUnneeded({ db, store, log }: Sweeping): Promise<void> {
  const { rows } = await sql<{ id: string; recording_id: string }>`
    delete from clip_files f where not ${sql.raw(isNeeded)}
    returning f.id, f.recording_id`.execute(db.kysely);
  for (const { id, recording_id } of rows) {
    await removeClipFiles(store, recording_id, id).catch((error: unknown) =>
      log.warn({ err: error, clipId: id }, "could not remove the files of a clip; the next sweep does"),
    );
  }
}

/** Removes the files of a clip whose row is gone. */
export async function removeClipFiles(
  store: ObjectStore,
  recordingId: string,
  clipId: string,
): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(clipPrefix(recordingId, clipId))) keys.push(key);
  for (const key of keys) await store.delete(key);
}
