import { sql } from "kysely";
import type { Principal } from "../access/principal.ts";
import type { Config } from "../config.ts";
import type { Database, Tx } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { lockForChange } from "../recordings/rights.ts";
import { requestTranscription, retryTranscription } from "../transcription/service.ts";

interface RerunState {
  readonly status: "pending" | "running" | "done" | "failed" | null;
  readonly has_media: boolean;
  readonly has_segments: boolean;
  /** Not made by the speech model. */
  readonly is_supplied: boolean;
  readonly is_edited: boolean;
}

/**
 * Has a transcript made by the speech model, again or for the first time.
 * @param edits what becomes of the edits in the one that is there; without, one with edits is left alone.
 */
export async function rerunTranscription(
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly config: Pick<Config, "transcription">;
  },
  principal: Principal,
  recordingId: string,
  edits: "keep" | "discard" | undefined,
): Promise<{ status: "pending" }> {
  const { db, jobs, config } = deps;
  await db.kysely.transaction().execute(async (tx) => {
    await lockForChange(tx, principal, recordingId, "have it transcribed again");
    const state = await findState(tx, recordingId);
    const reason = refusal(state, config.transcription !== null, edits);
    if (reason !== null) throw new ProblemError("wrong_state", reason);
    if (!(await retryTranscription(tx, jobs, recordingId))) {
      if (await restartDone(tx, recordingId))
        await jobs.enqueue(tx, "transcribe_recording", { recordingId }, recordingId);
      else await requestTranscription(tx, jobs, recordingId);
    }
    // Edits that come while it is made are kept as well, unless they are not wanted.
    await sql`
      update transcriptions set edits = ${edits ?? "keep"}
      where recording_id = ${recordingId}`.execute(tx);
  });
  jobs.wake();
  return { status: "pending" };
}

/** @returns whether there was one that had ended well. What was heard in its pieces is gone. */
async function restartDone(tx: Tx, recordingId: string): Promise<boolean> {
  const { rows } = await sql`
    update transcriptions set status = 'pending', progress = 0, chunks_total = null,
      updated_at = clock_timestamp()
    where recording_id = ${recordingId} and status = 'done'
    returning recording_id`.execute(tx);
  return rows.length > 0;
}

async function findState(tx: Tx, recordingId: string): Promise<RerunState> {
  const { rows } = await sql<RerunState>`
    select t.status,
      exists (select 1 from recording_media m where m.recording_id = r.id) as has_media,
      s.has_segments,
      s.has_segments and t.written_version is null as is_supplied,
      exists (select 1 from transcript_segments s
        where s.recording_id = r.id and s.original is not null) as is_edited
    from recordings r
    left join transcriptions t on t.recording_id = r.id
    cross join lateral (
      select exists (select 1 from transcript_segments s where s.recording_id = r.id) as has_segments) s
    where r.id = ${recordingId}`.execute(tx);
  const state = rows[0];
  if (state === undefined) throw new Error(`recording ${recordingId} was not locked before`);
  return state;
}

/** Why it can't be done, in words; null when it can. */
function refusal(state: RerunState, hasModel: boolean, edits: "keep" | "discard" | undefined): string | null {
  if (!hasModel) return "this server has no speech model; its operator can set one up";
  if (!state.has_media) return "the recording has no file to make a transcript of";
  if (state.status === "pending" || state.status === "running")
    return "the transcript is being made already; wait until that has ended";
  if (edits !== undefined || !state.has_segments) return null;
  const choice = "say `edits`: keep to write its edits into the new one, or discard to drop them";
  if (state.is_edited) return `the transcript was edited; ${choice}`;
  if (state.is_supplied)
    return `the transcript was supplied and not made by the speech model, which would replace it; ${choice}`;
  return null;
}
