import { sql } from "kysely";
import { notify } from "../../../people/events/notify.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { uploadFinished } from "../../../platform/telemetry/signals.ts";
import { compareAndSetStatus, type StatusChange, type UploadRow } from "../queries.ts";
import { recordUploadUpdated } from "./events.ts";
import { automaticEvent, nextStatus, type UploadEvent, type UploadState } from "./state.ts";

/**
 * Applies an event to an upload, and the automatic transitions that follow. The only writer of `status`: each step is a
 * compare-and-set with its outbox row and follow-up job in the caller's transaction.
 * @returns the row after the last step.
 * @throws Error when the event is not allowed in this state; callers validate client requests first.
 */
export async function transition(
  tx: Tx,
  jobs: JobQueue,
  row: UploadRow,
  event: UploadEvent,
  also: StatusChange = {},
): Promise<UploadRow> {
  const to = nextStatus(stateOf(row), event);
  if (to === null) throw new Error(`upload ${row.id} in ${row.status} can't take ${event}`);
  const changed = await compareAndSetStatus(tx, row.id, row.status, to, also);
  if (changed === undefined) throw new Error(`upload ${row.id} left ${row.status} before ${event}`);
  await recordUploadUpdated(tx, changed);
  reportEnd(changed);
  if (to === "failure") await notifyOfFailure(tx, changed);
  const job = jobOf(changed);
  if (job !== null) await jobs.enqueue(tx, job, { uploadId: row.id }, row.id);
  return advance(tx, jobs, changed);
}

/** Not of files of imports and watched folders, which report what failed where they are listed. */
function notifyOfFailure(tx: Tx, { id, created_by }: UploadRow): Promise<void> {
  return notify(tx, {
    kind: "upload_failed",
    key: `upload:${id}`,
    to: sql`
      select ${created_by}::uuid
      where not exists (select 1 from import_items where upload_id = ${id})
        and not exists (select 1 from watched_files where upload_id = ${id})`,
    actorId: null,
    subjectId: id,
  });
}

/** Counts an upload that has ended. Before the commit: one that fails now, which is rare, is counted twice. */
function reportEnd(row: UploadRow): void {
  const { status, media_type, auto_promote, received_at, created_at } = row;
  if (status !== "success" && status !== "failure") return;
  uploadFinished.publish({
    mediaType: media_type,
    result: status,
    isAutomatic: auto_promote,
    failure: status === "success" ? null : failureOf(row),
    seconds: Math.max(0, Date.now() - (received_at ?? created_at).getTime()) / 1000,
  });
}

function failureOf(row: UploadRow) {
  return {
    uploadId: row.id,
    stage: row.failure_stage ?? "unknown",
    reason: row.failure_reason ?? "",
    detail: row.failure_detail,
    bytes: row.failure_bytes === null ? null : Number(row.failure_bytes),
    container: row.failure_container,
  };
}

/** Applies the automatic transition, if there is one. */
export async function advance(tx: Tx, jobs: JobQueue, row: UploadRow): Promise<UploadRow> {
  const event = automaticEvent(stateOf(row));
  return event === null ? row : transition(tx, jobs, row, event);
}

/** The job that moves an upload out of its status; null when it waits for a client. */
export function jobOf(row: UploadRow): "validate_upload" | "promote_upload" | "promote_media" | null {
  if (row.status === "processing") return "validate_upload";
  if (row.status !== "promoting") return null;
  return row.media_type === "transcript" ? "promote_upload" : "promote_media";
}

export function stateOf(row: UploadRow): UploadState {
  return { status: row.status, mediaType: row.media_type, autoPromote: row.auto_promote };
}
