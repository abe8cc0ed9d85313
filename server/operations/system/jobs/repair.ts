import { sql } from "kysely";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type JobName, type JobQueue, restartStoppedJob } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { endRun, restartRun } from "../../../processing/intelligence/index.ts";
import { endTranscription, restartTranscription } from "../../../processing/transcription/index.ts";
import { failDiscardedUpload } from "../../../processing/uploads/lifecycle/discard.ts";
import { removeFile } from "../../../processing/uploads/lifecycle/upload-file.ts";
import { findFailedJob } from "./queries.ts";

/** What a job of a kind is about, and how to end that when the job is discarded. */
interface JobKind {
  readonly subject:
    | "upload"
    | "recording"
    | "clip"
    | "personal_data_erasure"
    | "mail"
    | "password_reset"
    | "access_request"
    | "speech_model"
    | "import_run"
    | "connection_event";
  /** Whether the job may be discarded; a personal-data erasure must be finished. */
  readonly canDiscard: boolean;
}

const jobKinds: Readonly<Record<JobName, JobKind>> = {
  promote_upload: { subject: "upload", canDiscard: true },
  validate_upload: { subject: "upload", canDiscard: true },
  promote_media: { subject: "upload", canDiscard: true },
  join_upload_parts: { subject: "upload", canDiscard: true },
  fetch_import: { subject: "upload", canDiscard: true },
  transcribe_recording: { subject: "recording", canDiscard: true },
  analyze_recording: { subject: "recording", canDiscard: true },
  install_model: { subject: "speech_model", canDiscard: false },
  import_recordings: { subject: "import_run", canDiscard: true },
  import_connection_event: { subject: "connection_event", canDiscard: true },
  render_clip: { subject: "clip", canDiscard: true },
  render_companions: { subject: "recording", canDiscard: true },
  send_mail: { subject: "mail", canDiscard: true },
  request_access: { subject: "access_request", canDiscard: true },
  request_password_reset: { subject: "password_reset", canDiscard: true },
  erase_personal_data: { subject: "personal_data_erasure", canDiscard: false },
};

/** The kind of a job by its name in the queue. */
export function kindOf(name: string): JobKind {
  return jobKinds[name as JobName] ?? { subject: "upload", canDiscard: false };
}

/** The id by which a failed job is retried and discarded. */
export function jobId({ kind, key }: { readonly kind: string; readonly key: string }): string {
  return `${kind}.${key}`;
}

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
}

/**
 * Whom to record, each in the audit log of their workspace.
 * @param workspaceId of the job; null: it belongs to none.
 */
type ActorsOf = (workspaceId: string | null) => readonly AuditActor[];

interface Named {
  readonly kind: JobName;
  readonly key: string;
  readonly workspaceId: string | null;
  /** Whether it has failed for good: there is nothing left to end. */
  readonly hasEnded: boolean;
}

/**
 * Runs a failed job now.
 * @param actorsOf who asked for it.
 * @throws ProblemError `not_found` when there is no such failed job.
 */
export async function retryJob(deps: Dependencies, id: string, actorsOf: ActorsOf): Promise<void> {
  const { db, jobs } = deps;
  await db.kysely.transaction().execute(async (tx) => {
    const job = await findNamed(tx, id);
    const isQueued = await sql`
      update pgboss.job set start_after = now()
      where name = ${job.kind} and singleton_key = ${job.key} and policy = 'exclusive' and state = 'retry'
      returning id`.execute(tx);
    await restartStoppedJob(tx, job.kind, job.key);
    if (isQueued.rows.length === 0) {
      if (job.kind === "transcribe_recording") await restartTranscription(tx, job.key);
      else if (job.kind === "analyze_recording") await restartRun(tx, job.key);
      else throw noSuchJob(id);
      await jobs.enqueue(tx, job.kind, { recordingId: job.key }, job.key);
    }
    await sql`select parley_work_added()`.execute(tx);
    await audit(tx, actorsOf(job.workspaceId), "job_retried", job);
  });
  jobs.wake();
}

/**
 * Ends a failed job and what it was for, in one transaction.
 * @throws ProblemError `not_found` when there is no such failed job, `wrong_state` when it can't be discarded.
 */
export async function discardJob(deps: Dependencies, id: string, actorsOf: ActorsOf): Promise<void> {
  const { db, jobs, store } = deps;
  const upload = await db.kysely.transaction().execute(async (tx) => {
    const job = await findNamed(tx, id);
    if (!kindOf(job.kind).canDiscard)
      throw new ProblemError(
        "wrong_state",
        job.kind === "install_model"
          ? "the download of a speech model is canceled in Settings → Transcription; it can only be retried here"
          : "a personal-data erasure can't be discarded, because it must be completed; retry it",
      );
    if (job.hasEnded)
      throw new ProblemError("wrong_state", "the job has stopped already; you can only retry it");
    // Not while it runs: a job that has just been started is no longer in this state.
    const { rows } = await sql`
      delete from pgboss.job
      where name = ${job.kind} and singleton_key = ${job.key} and policy = 'exclusive' and state < 'active'
      returning id`.execute(tx);
    const isOfModel = job.kind === "transcribe_recording" || job.kind === "analyze_recording";
    if (rows.length === 0 && !isOfModel) throw noSuchJob(id);
    await audit(tx, actorsOf(job.workspaceId), "job_discarded", job);
    return endSubject(tx, jobs, job);
  });
  if (upload !== null && upload.media_type !== "transcript") await removeFile(store, upload);
}

/** @returns an upload whose file is to be removed. */
async function endSubject(tx: Tx, jobs: JobQueue, { kind, key }: Named) {
  if (kindOf(kind).subject === "upload") return failDiscardedUpload(tx, jobs, key);
  if (kind === "transcribe_recording")
    await endTranscription(tx, key, "An admin stopped the transcription.", "user");
  if (kind === "analyze_recording") await endRun(tx, key, "An admin stopped the run.");
  if (kind === "import_recordings")
    await sql`
      update import_runs set state = 'canceled', token = null, finished_at = clock_timestamp()
      where id = ${key} and state in ('pending', 'running')`.execute(tx);
  if (kind === "import_connection_event")
    await sql`
      update connection_events set state = 'failed', reason = 'An admin stopped the import of this event.'
      where id = ${key} and state = 'pending'`.execute(tx);
  if (kind === "render_clip")
    await sql`
      update clips set state = 'failed', error = 'An admin stopped the rendering of this clip.'
      where id = ${key} and state = 'preparing'`.execute(tx);
  return null;
}

async function findNamed(tx: Tx, id: string): Promise<Named> {
  const [kind = "", key = ""] = id.split(".", 2);
  const found = kind in jobKinds ? await findFailedJob(tx, kind, key) : undefined;
  if (found === undefined) throw noSuchJob(id);
  const { workspace_id: workspaceId, next_at, is_queued } = found;
  return { kind: kind as JobName, key, workspaceId, hasEnded: next_at === null && !is_queued };
}

function noSuchJob(id: string): ProblemError {
  return new ProblemError(
    "not_found",
    `there is no failed job ${id}; it may be running, or have succeeded meanwhile`,
  );
}

async function audit(
  tx: Tx,
  actors: readonly AuditActor[],
  action: "job_retried" | "job_discarded",
  { kind, key }: Named,
): Promise<void> {
  for (const actor of actors)
    await recordAudit(tx, actor, {
      action,
      subject: { type: kindOf(kind).subject, id: key },
      details: { kind },
    });
}
