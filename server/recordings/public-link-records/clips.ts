import { sql } from "kysely";
import type { Database, Tx } from "../../platform/db/database.ts";
import { enforceQuota } from "../../platform/http/limits/quota.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { hasNoJob, type JobQueue } from "../../platform/jobs/queue.ts";
import { recordingsPrefix } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";

/** Where a highlight ends in its recording. What links show ends where that was approved. */
export const endMs = "least(h.start_ms::bigint + h.duration_ms, 2147483647)::integer";

/**
 * Joins what links of highlights and stories show: links `l`, approved ranges and texts `c`, highlights `h`, and positions
 * in stories `sh`. Highlights that were removed from their story are excluded by `isShown`.
 */
export const shownClips = `public_links l
  join public_link_highlights c on c.link_id = l.id
  join highlights h on h.id = c.highlight_id
  left join story_highlights sh on sh.story_id = l.story_id and sh.highlight_id = h.id`;
export const isShown = "(l.highlight_id = h.id or sh.story_id is not null)";

/** Whether any link shows what is cut for a row of clips `f`, or a user has asked for it. */
export const isNeeded = `(coalesce(f.highlight_id is not null and f.wanted_until > now(), false) or exists (
  select 1 from ${shownClips}
  where c.highlight_id = f.highlight_id and c.start_ms = f.start_ms and c.end_ms = f.end_ms
    and ${isShown} and (l.expires_at is null or l.expires_at > now())))`;

/** Key prefix of a clip's files, below the recording's own, so that they are deleted with it. */
export function clipPrefix(recordingId: string, clipId: string): string {
  return `${recordingsPrefix}${recordingId}/clips/${clipId}/`;
}

/** Most clips requested per run; the next run continues. */
const batchSize = 500;

/**
 * Requests the missing clips of links.
 * @param linkIds only these links; all if undefined.
 */
async function requestClips(tx: Tx, jobs: JobQueue, linkIds?: readonly string[]): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    insert into clips (recording_id, highlight_id, start_ms, end_ms)
    select distinct h.recording_id, h.id, c.start_ms, c.end_ms
    from ${sql.raw(shownClips)}
    join recording_media m on m.recording_id = h.recording_id
    where ${sql.raw(isShown)} and (l.expires_at is null or l.expires_at > now())
      and (${linkIds === undefined} or l.id = any(${[...(linkIds ?? [])]}::uuid[]))
      and not exists (select 1 from clips f
        where f.highlight_id = h.id and f.start_ms = c.start_ms and f.end_ms = c.end_ms)
    limit ${batchSize}
    on conflict (highlight_id, start_ms, end_ms) do nothing
    returning id`.execute(tx);
  for (const { id } of rows) await jobs.enqueue(tx, "render_clip", { clipId: id }, id);
  return rows.length;
}

/** A clip of a highlight's current range. */
export interface Clip {
  readonly id: string;
  readonly recording_id: string;
  readonly workspace_id: string;
  readonly text: string;
  readonly state: "preparing" | "ready" | "failed";
  readonly format: "mp4" | "mp3" | null;
  readonly error: string | null;
}

/** How long a clip is kept for a user who asked for it. */
const wantedFor = "interval '1 hour'";

/** How soon after the last request a clip that failed is rendered again, so that polling shows that it failed. */
const retryAfter = "interval '1 minute'";

/** Clips that are prepared for one user at a time; rendering takes minutes of a processor. */
const maxPreparing = 5;

/** What a clip is cut from. */
interface Source {
  readonly workspace_id: string;
  /** About the bytes of the clip. */
  readonly bytes: number;
  /** Whether the clip is there, or is being prepared. */
  readonly is_requested: boolean;
  /** Whether it failed a moment ago, so that it is not rendered again yet. */
  readonly has_just_failed: boolean;
}

interface Requesting {
  readonly db: Database;
  readonly jobs: JobQueue;
  /** Refuses a file when the workspace's storage is full. @throws ProblemError `quota_exceeded`. */
  readonly requireRoom: (tx: Tx, workspaceId: string, bytes: number) => Promise<void>;
}

/**
 * Requests the clip of a highlight for a user; one that failed a while ago is rendered again.
 * @returns undefined if its recording has no media file.
 * @throws ProblemError `quota_exceeded`.
 */
export async function requestClipOf(
  { db, jobs, requireRoom }: Requesting,
  userId: string,
  highlightId: string,
): Promise<Clip | undefined> {
  const isRequested = await db.kysely.transaction().execute(async (tx) => {
    const source = await findSource(tx, highlightId);
    if (source === undefined) return false;
    if (!source.is_requested && !source.has_just_failed) {
      await enforceQuota(tx, {
        name: "clips",
        owner: userId,
        limit: maxPreparing,
        count: () => countPreparing(tx, userId),
        refusal: "clip_quota",
      });
      await requireRoom(tx, source.workspace_id, source.bytes);
    }
    const { rows } = await sql<{ id: string; state: string }>`
      insert into clips (recording_id, highlight_id, start_ms, end_ms, wanted_until, wanted_by)
      select h.recording_id, h.id, h.start_ms, ${sql.raw(endMs)}, now() + ${sql.raw(wantedFor)}, ${userId}
      from highlights h join recording_media m on m.recording_id = h.recording_id
      where h.id = ${highlightId}
      on conflict (highlight_id, start_ms, end_ms) do update set
        wanted_until = case when ${source.has_just_failed} then clips.wanted_until else excluded.wanted_until end,
        wanted_by = excluded.wanted_by,
        state = case when clips.state = 'failed' and not ${source.has_just_failed} then 'preparing' else clips.state end,
        error = case when ${source.has_just_failed} then clips.error end,
        kills = case when clips.state = 'failed' then 0 else clips.kills end
      returning id, state`.execute(tx);
    const [clip] = rows;
    // The queue ignores it if a job for this clip is pending or running.
    if (clip?.state === "preparing") await jobs.enqueue(tx, "render_clip", { clipId: clip.id }, clip.id);
    return clip !== undefined;
  });
  if (!isRequested) return undefined;
  jobs.wake();
  return findClipOf(db, highlightId);
}

async function findSource(tx: Tx, highlightId: string): Promise<Source | undefined> {
  const { rows } = await sql<Source>`
    select r.workspace_id, f.state is not null and f.state <> 'failed' as is_requested,
      coalesce(f.state = 'failed' and f.wanted_until > now() + ${sql.raw(wantedFor)} - ${sql.raw(retryAfter)}, false)
        as has_just_failed,
      ceil(coalesce(s.bytes, 0) * least(1, (${sql.raw(endMs)} - h.start_ms)::float8 / greatest(1, r.duration_ms)))::float8
        as bytes
    from highlights h join recordings r on r.id = h.recording_id
      join recording_media m on m.recording_id = h.recording_id
      left join stored_files s on s.key = ${recordingsPrefix} || h.recording_id || '/media.' || m.format
      left join clips f on f.highlight_id = h.id and f.start_ms = h.start_ms and f.end_ms = ${sql.raw(endMs)}
    where h.id = ${highlightId}`.execute(tx);
  return rows[0];
}

async function countPreparing(tx: Tx, userId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from clips
    where state = 'preparing' and wanted_by = ${userId} and wanted_until > now()`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** The clip of a highlight's current range, as far as it is needed. */
export async function findClipOf(db: Database, highlightId: string): Promise<Clip | undefined> {
  const { rows } = await sql<Clip>`
    select f.id, f.recording_id, r.workspace_id, h.text, f.state, f.format, f.error
    from highlights h join recordings r on r.id = h.recording_id
      join clips f on f.highlight_id = h.id and f.start_ms = h.start_ms and f.end_ms = ${sql.raw(endMs)}
    where h.id = ${highlightId} and ${sql.raw(isNeeded)}`.execute(db.kysely);
  return rows[0];
}

/** The links that show a highlight or would show it once it is approved. */
export async function findLinksOf(tx: Tx, highlightId: string): Promise<string[]> {
  const { rows } = await sql<{ link_id: string }>`
    select link_id from public_link_highlights where highlight_id = ${highlightId}`.execute(tx);
  return rows.map((row) => row.link_id);
}

/** Requests failed clips of a link again. */
export async function retryFailed(tx: Tx, jobs: JobQueue, linkId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update clips f set state = 'preparing', error = null, kills = 0
    where f.state = 'failed'
      and f.highlight_id in (select highlight_id from public_link_highlights where link_id = ${linkId})
    returning id`.execute(tx);
  for (const { id } of rows) await jobs.enqueue(tx, "render_clip", { clipId: id }, id);
}

interface Sweeping {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly log: { warn(detail: object, message: string): void };
}

/** A job starts within seconds; one that has not ended after this long is either slow or lost. */
const restartAfterMs = 60_000;

/** Requests missing clips, restores lost jobs, and removes clips that no link shows any more. */
export async function reconcileClips(deps: Sweeping): Promise<void> {
  const { db, jobs } = deps;
  const requested = await db.kysely.transaction().execute((tx) => requestClips(tx, jobs));
  const { rows } = await sql<{ id: string }>`
    select id from clips
    where state = 'preparing' and created_at < now() - ${restartAfterMs} * interval '1 millisecond'
      and ${hasNoJob("render_clip", sql`clips.id`)}
    order by created_at limit ${batchSize}`.execute(db.kysely);
  for (const { id } of rows)
    await db.kysely.transaction().execute((tx) => jobs.enqueue(tx, "render_clip", { clipId: id }, id));
  if (requested > 0) jobs.wake();
  await removeUnneeded(deps);
}

/** Removes clips in the store whose rows are deleted; what fails is left to the orphan sweep. */
async function removeUnneeded({ db, store, log }: Sweeping): Promise<void> {
  const { rows } = await sql<{ id: string; recording_id: string }>`
    delete from clips f where not ${sql.raw(isNeeded)}
    returning f.id, f.recording_id`.execute(db.kysely);
  for (const { id, recording_id } of rows)
    await removeClipFiles(store, recording_id, id).catch((error: unknown) =>
      log.warn({ err: error, clipId: id }, "could not remove a clip's files; the orphan sweep will"),
    );
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

/**
 * Requests the clips of these links, in a transaction of its own because it locks recordings, which must be locked before
 * stories. If the process is killed before, `reconcileClips` requests them.
 */
export async function cutClips(
  { db, jobs }: { readonly db: Database; readonly jobs: JobQueue },
  linkIds: readonly string[],
): Promise<void> {
  if (linkIds.length === 0) return;
  await db.kysely.transaction().execute((tx) => requestClips(tx, jobs, linkIds));
  jobs.wake();
}

export const reconcileClipsKind = defineRecurringJob({
  name: "reconcile_clips",
  label: (i18n) => i18n.t("Reconcile clips"),
  every: "sweep",
  handler: (deps) => reconcileClips(deps),
});
