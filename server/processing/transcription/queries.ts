import { type RawBuilder, sql } from "kysely";
import type { UsedSpeechModel } from "../../../contract/transcripts/transcript-history.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import { hasNoJob } from "../../platform/jobs/queue.ts";
import { reportTranscription } from "../../recordings/transcripts/report-transcription.ts";
import type { PartVoices } from "./speakers/assign.ts";
import type { ChunkTranscript } from "./transcriber.ts";

/** Status of a transcription: `pending` and `running` continue without a user, `done` and `failed` are final. */
type TranscriptionStatus = "pending" | "running" | "done" | "failed";

/** What a job needs to know before it starts. */
export interface TranscriptionRow {
  readonly status: TranscriptionStatus;
  /** Whether the time to retry has come. */
  readonly is_due: boolean;
  /** The file with its sound, below its id; null: the recording has no file. */
  readonly file: string | null;
}

/** @returns undefined when the recording is gone or has no transcription. */
export async function findTranscription(
  db: Executor,
  recordingId: string,
): Promise<TranscriptionRow | undefined> {
  const { rows } = await sql<TranscriptionRow>`
    select t.status, coalesce(t.not_before <= now(), true) as is_due,
      case when m.speaker_tracks is null then 'media.' || m.format else 'speech.webm' end as file
    from transcriptions t
    left join recording_media m on m.recording_id = t.recording_id
    where t.recording_id = ${recordingId}`.execute(db);
  return rows[0];
}

/** What the users chose for a recording's transcription. */
export interface SpeechChoices {
  /** Null: the operator's setting, or the model detects it. */
  readonly language: string | null;
  /** Participants' names first, then the meeting type's and the workspace's words; without duplicates. */
  readonly vocabulary: readonly string[];
}

/** Names of more participants than this are not sent to a model. */
const maxNames = 100;

/** The language and vocabulary of a recording: its own, its meeting type's or its workspace's. */
export async function findSpeechChoices(db: Executor, recordingId: string): Promise<SpeechChoices> {
  const { rows } = await sql<{ language: string | null; names: string[]; words: string[] }>`
    select coalesce(t.spoken_language, m.spoken_language, w.spoken_language) as language,
      array(select p.name from participants p
        where p.recording_id = r.id order by p.position limit ${maxNames}) as names,
      coalesce(m.vocabulary, '{}') || w.vocabulary as words
    from recordings r
    join workspaces w on w.id = r.workspace_id
    left join meeting_types m on m.id = r.meeting_type_id
    left join transcriptions t on t.recording_id = r.id
    where r.id = ${recordingId}`.execute(db);
  const { language = null, names = [], words = [] } = rows[0] ?? {};
  return { language, vocabulary: [...new Set([...names.filter(isName), ...words])] };
}

/** Whether a participant's name is a name: those without one are called by their email or phone number. */
function isName(name: string): boolean {
  return /\p{L}/u.test(name) && !name.includes("@") && name.length <= 100;
}

/** The progress of a transcription, for users who wait for it. */
export interface TranscriptionProgress {
  readonly status: TranscriptionStatus;
  /** What it does; null: it has not begun. */
  readonly stage: "audio" | "words" | "speakers" | null;
  /** 0 to 100. */
  readonly progress: number;
  readonly chunks_done: number;
  /** Null until the audio has been cut. */
  readonly chunks_total: number | null;
  /** Failures since the last success. */
  readonly attempts: number;
  /** A message for users. */
  readonly last_error: string | null;
  /** When it retries after a failure. */
  readonly next_attempt_at: Date | null;
  readonly updated_at: Date;
}

/** @returns null when there is no transcription for this recording. */
export async function readTranscriptionProgress(
  db: Executor,
  recordingId: string,
): Promise<TranscriptionProgress | null> {
  const { rows } = await sql<TranscriptionProgress>`
    select t.status, t.stage, t.progress, t.chunks_total, t.attempts, t.last_error, t.not_before as next_attempt_at, t.updated_at,
      (select count(*)::integer from transcription_chunks c
        where c.recording_id = t.recording_id and c.result is not null) as chunks_done
    from transcriptions t where t.recording_id = ${recordingId}`.execute(db);
  return rows[0] ?? null;
}

/** SQL: whether the recording is in the trash: models don't work on it, and continue when it is restored. */
const isInTrash = (recordingId: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`exists (select 1 from trashed_recordings where recording_id = ${recordingId})`;

/**
 * Finds transcriptions that should have a job and have none: their wait after a failure is over, or their job was lost.
 * Those with a job are excluded, or one user's backlog would hide what others wait for.
 */
export async function findDueTranscriptions(db: Executor): Promise<string[]> {
  const { rows } = await sql<{ recording_id: string }>`
    select recording_id from transcriptions t
    where status in ('pending', 'running') and (not_before is null or not_before <= now())
      and ${hasNoJob("transcribe_recording", sql`t.recording_id`)} and not ${isInTrash(sql`t.recording_id`)}
    order by created_at limit 500`.execute(db);
  return rows.map((row) => row.recording_id);
}

/** @returns whether it was created now. */
export async function insertTranscription(
  tx: Tx,
  recordingId: string,
  spokenLanguage: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    insert into transcriptions (recording_id, status, spoken_language)
    values (${recordingId}, 'pending', ${spokenLanguage})
    on conflict (recording_id) do nothing
    returning recording_id`.execute(tx);
  return rows.length > 0;
}

/** The columns of a transcription that starts again, without traces of its failure or cancellation. */
const restarted = sql`status = 'pending', attempts = 0, failing_since = null, not_before = null, last_error = null,
  failure_cause = null, canceled_at = null, canceled_by = null, updated_at = clock_timestamp()`;

/** @returns whether it had failed and is now restarted. Results of single chunks are kept. */
export async function restartFailed(tx: Tx, recordingId: string): Promise<boolean> {
  const { rows } = await sql`
    update transcriptions set ${restarted} where recording_id = ${recordingId} and status = 'failed'
    returning recording_id`.execute(tx);
  return rows.length > 0;
}

/** Runs a transcription now that has failed or waits after a failure. Results of single chunks are kept. */
export async function restartFailing(tx: Tx, recordingId: string): Promise<void> {
  await sql`
    update transcriptions set ${restarted} where recording_id = ${recordingId} and status <> 'done'`.execute(
    tx,
  );
}

/** @returns whether there is still something to do. */
export async function markRunning(db: Executor, recordingId: string): Promise<boolean> {
  const { rows } = await sql`
    update transcriptions set status = 'running', waits_for = null, updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status in ('pending', 'running') and not ${isInTrash(sql`${recordingId}`)}
    returning recording_id`.execute(db);
  return rows.length > 0;
}

/** The names of the speakers that have a channel of their own, in the order of the channels. */
export async function findSpeakerTracks(db: Executor, recordingId: string): Promise<readonly string[]> {
  const row = await db
    .selectFrom("recording_media")
    .select("speaker_tracks")
    .where("recording_id", "=", recordingId)
    .executeTakeFirst();
  return row?.speaker_tracks ?? [];
}

export interface ChunkRow {
  readonly position: number;
  readonly start_ms: number;
  readonly end_ms: number;
  /** Null: all channels mixed. */
  readonly channel: number | null;
  readonly result: ChunkTranscript | null;
  /** Null: the speakers were not told apart. */
  readonly voices: PartVoices | null;
}

/** The plan in order; empty before the audio was first cut. */
export async function findChunks(db: Executor, recordingId: string): Promise<ChunkRow[]> {
  const { rows } = await sql<ChunkRow>`
    select position, start_ms, end_ms, channel, result, voices from transcription_chunks
    where recording_id = ${recordingId} order by position`.execute(db);
  return rows;
}

/** @returns whether a chunk has its result; undefined when the transcription is gone or was cut differently. */
export async function hasChunkResult(
  db: Executor,
  recordingId: string,
  position: number,
): Promise<boolean | undefined> {
  const { rows } = await sql<{ is_done: boolean }>`
    select result is not null as is_done from transcription_chunks
    where recording_id = ${recordingId} and position = ${position}`.execute(db);
  return rows[0]?.is_done;
}

/** Always locked before its chunks, as when a recording is deleted; otherwise two transactions could deadlock. */
async function lockRunning(tx: Tx, recordingId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from transcriptions where recording_id = ${recordingId} and status = 'running' for update`.execute(
    tx,
  );
  return rows.length > 0;
}

/**
 * Saves how the audio was cut. If it was cut differently before, such as by an older version, only results for exactly
 * the same stretch of the same audio are kept.
 * @returns whether the transcription still exists.
 */
export async function saveChunkPlan(
  tx: Tx,
  recordingId: string,
  chunks: readonly { readonly startMs: number; readonly endMs: number; readonly channel?: number }[],
): Promise<boolean> {
  if (!(await lockRunning(tx, recordingId))) return false;
  const key = (channel: number | null, startMs: number, endMs: number): string =>
    `${channel}:${startMs}-${endMs}`;
  const known = new Map(
    (await findChunks(tx, recordingId)).map((chunk) => [
      key(chunk.channel, chunk.start_ms, chunk.end_ms),
      chunk,
    ]),
  );
  await sql`delete from transcription_chunks where recording_id = ${recordingId}`.execute(tx);
  const planned = chunks.map(({ startMs, endMs, channel = null }, position) => {
    const { result = null, voices = null } = known.get(key(channel, startMs, endMs)) ?? {};
    return { position, start_ms: startMs, end_ms: endMs, channel, result, voices };
  });
  await sql`
    insert into transcription_chunks (recording_id, position, start_ms, end_ms, channel, result, voices)
    select ${recordingId}, position, start_ms, end_ms, channel, nullif(result, 'null'::jsonb), nullif(voices, 'null'::jsonb)
    from jsonb_to_recordset(${JSON.stringify(planned)}::jsonb)
      as c (position integer, start_ms integer, end_ms integer, channel smallint, result jsonb, voices jsonb)`.execute(
    tx,
  );
  await sql`
    update transcriptions set chunks_total = ${chunks.length}, updated_at = clock_timestamp()
    where recording_id = ${recordingId}`.execute(tx);
  return true;
}

/** The transcription before an update, locked. */
const former = (recordingId: string): RawBuilder<unknown> =>
  sql`(select recording_id, stage, progress from transcriptions where recording_id = ${recordingId} for update) former`;

interface ProgressChange {
  readonly before: number;
  readonly after: number;
}

/** Reports every ten percent. */
async function reportProgress(
  tx: Tx,
  recordingId: string,
  change: ProgressChange | undefined,
): Promise<void> {
  if (change !== undefined && Math.floor(change.after / 10) > Math.floor(change.before / 10))
    await reportTranscription(tx, recordingId);
}

/** The percentage that is done when the audio is cut; the rest is divided among the chunks. */
const cutProgress = 5;

/**
 * Saves the result of one chunk and clears earlier failures: the server works.
 * @returns whether the chunk still exists.
 */
export async function saveChunkResult(
  tx: Tx,
  recordingId: string,
  chunk: { readonly position: number; readonly start_ms: number; readonly end_ms: number },
  result: ChunkTranscript,
): Promise<boolean> {
  if (!(await lockRunning(tx, recordingId))) return false;
  const { rows } = await sql`
    update transcription_chunks set result = ${JSON.stringify(result)}::jsonb
    where recording_id = ${recordingId} and position = ${chunk.position}
      and start_ms = ${chunk.start_ms} and end_ms = ${chunk.end_ms}
    returning position`.execute(tx);
  if (rows.length === 0) return false;
  const { rows: changes } = await sql<ProgressChange>`
    update transcriptions t set attempts = 0, failing_since = null, not_before = null, last_error = null,
      updated_at = clock_timestamp(),
      progress = (select least(99, ${cutProgress}::integer + ((95 - ${cutProgress}::integer)
          * count(*) filter (where c.result is not null) / greatest(count(*), 1))::integer)
        from transcription_chunks c where c.recording_id = t.recording_id)
    from ${former(recordingId)}
    where t.recording_id = former.recording_id and t.status = 'running'
    returning former.progress as before, t.progress as after`.execute(tx);
  await reportProgress(tx, recordingId, changes[0]);
  return true;
}

/** Saves the voices of one chunk. @returns whether the transcription is still running. */
export async function saveChunkVoices(
  db: Executor,
  recordingId: string,
  position: number,
  voices: PartVoices,
): Promise<boolean> {
  const { rows } = await sql`
    update transcription_chunks c set voices = ${JSON.stringify(voices)}::jsonb
    from transcriptions t
    where c.recording_id = ${recordingId} and c.position = ${position}
      and t.recording_id = c.recording_id and t.status = 'running'
    returning c.position`.execute(db);
  return rows.length > 0;
}

/** Saves what a finished transcription used. */
export async function saveUsed(tx: Tx, recordingId: string, used: UsedSpeechModel | null): Promise<void> {
  await sql`
    update transcriptions set used = ${used === null ? null : JSON.stringify(used)}::jsonb
    where recording_id = ${recordingId}`.execute(tx);
}

/** Saves what a running transcription waits for; null: nothing. */
export async function saveWaiting(db: Executor, recordingId: string, text: string | null): Promise<void> {
  await sql`
    update transcriptions set waits_for = ${text}, updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status = 'running'`.execute(db);
}

/** Saves what a running transcription does. */
export async function saveStage(
  tx: Tx,
  recordingId: string,
  stage: "audio" | "words" | "speakers",
): Promise<void> {
  const { rows } = await sql<{ is_new: boolean }>`
    update transcriptions t set stage = ${stage}, updated_at = clock_timestamp()
    from ${former(recordingId)}
    where t.recording_id = former.recording_id and t.status = 'running'
    returning former.stage is distinct from ${stage} as is_new`.execute(tx);
  if (rows[0]?.is_new) await reportTranscription(tx, recordingId);
}

/** Saves how much of the chunk in work is done; never backwards. */
export async function saveChunkProgress(tx: Tx, recordingId: string, fraction: number): Promise<void> {
  const { rows } = await sql<ProgressChange>`
    update transcriptions t set updated_at = clock_timestamp(), progress = greatest(t.progress,
      (select least(95, ${cutProgress}::integer + ((95 - ${cutProgress}::integer)
          * (count(*) filter (where c.result is not null) + least(${fraction}::float8, 1))
          / greatest(count(*), 1))::integer)
        from transcription_chunks c where c.recording_id = t.recording_id))
    from ${former(recordingId)}
    where t.recording_id = former.recording_id and t.status = 'running'
    returning former.progress as before, t.progress as after`.execute(tx);
  await reportProgress(tx, recordingId, rows[0]);
}

/**
 * Records a failure that may be transient.
 * @returns how many there were since the last success and for how long; undefined when the transcription is gone or
 * final.
 */
export async function countFailure(
  db: Executor,
  recordingId: string,
  message: string,
): Promise<{ attempts: number; failing_ms: number } | undefined> {
  const { rows } = await sql<{ attempts: number; failing_ms: number }>`
    update transcriptions set attempts = attempts + 1, last_error = ${message},
      failing_since = coalesce(failing_since, clock_timestamp()), updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status = 'running'
    returning attempts, (extract(epoch from clock_timestamp() - failing_since) * 1000)::float8 as failing_ms`.execute(
    db,
  );
  return rows[0];
}

/** Sets when to retry. */
export async function postpone(db: Executor, recordingId: string, delayMs: number): Promise<void> {
  await sql`
    update transcriptions set not_before = clock_timestamp() + ${delayMs}::float8 * interval '1 millisecond'
    where recording_id = ${recordingId} and status = 'running'`.execute(db);
}

/** What ended a failed transcription. */
export type FailureCause = "model" | "recording" | "user";

/** Fails a transcription permanently. */
export async function markFailed(
  tx: Tx,
  recordingId: string,
  message: string,
  cause: FailureCause,
): Promise<void> {
  const { rows } = await sql`
    update transcriptions set status = 'failed', last_error = ${message}, failure_cause = ${cause}, not_before = null,
      updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status in ('pending', 'running')
    returning recording_id`.execute(tx);
  if (rows.length === 0) return;
  await deleteVoicesOfFailed(tx, recordingId);
  await reportTranscription(tx, recordingId);
}

/**
 * Ends a transcription because a user canceled it. Results of single chunks are kept.
 * @param userId null: a workspace token.
 * @returns whether it was queued or running.
 */
export async function markCanceled(tx: Tx, recordingId: string, userId: string | null): Promise<boolean> {
  const { rows } = await sql`
    update transcriptions set status = 'failed', failure_cause = 'user', last_error = 'The transcription was canceled.',
      canceled_at = clock_timestamp(), canceled_by = ${userId}, not_before = null, updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status in ('pending', 'running')
    returning recording_id`.execute(tx);
  if (rows.length === 0) return false;
  await deleteVoicesOfFailed(tx, recordingId);
  await reportTranscription(tx, recordingId);
  return true;
}

/** The embeddings are biometric data; the next attempt finds them in the sound. */
async function deleteVoicesOfFailed(tx: Tx, recordingId: string): Promise<void> {
  await sql`
    update transcription_chunks c set voices = null from transcriptions t
    where c.recording_id = ${recordingId} and c.voices is not null
      and t.recording_id = c.recording_id and t.status = 'failed'`.execute(tx);
}

/** Whether a job may continue; false once the transcription was canceled, has ended, or its recording was deleted. */
export async function isRunning(db: Executor, recordingId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from transcriptions
    where recording_id = ${recordingId} and status = 'running' and not ${isInTrash(sql`${recordingId}`)}`.execute(
    db,
  );
  return rows.length > 0;
}

/** Saves how many passages without clear speech were left out of the transcript. */
export async function saveUnclearPassages(tx: Tx, recordingId: string, count: number): Promise<void> {
  await sql`
    update transcriptions set unclear_passages = ${count} where recording_id = ${recordingId}`.execute(tx);
}
