import { type Selectable, sql } from "kysely";
import type { Cause } from "../../../contract/causes/causes.ts";
import type { TranscriptInput, UploadStatus } from "../../../contract/uploads/uploads.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import type { ImportData, MediaFacts } from "../../platform/db/json-columns.ts";
import { prepared } from "../../platform/db/prepared.ts";
import type { Uploads } from "../../platform/db/types.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";
import type { FailureFacts, MediaExpectation } from "../media/facts.ts";

/** One row of the uploads table. */
export type UploadRow = Selectable<Uploads>;

/**
 * The columns of an upload. Prepared statements name them: one that returned all of them would fail once a newer version has
 * added another.
 */
const columns: Readonly<Record<keyof UploadRow, true>> = {
  active_at: true,
  auto_promote: true,
  created_at: true,
  created_by: true,
  external_id: true,
  facts: true,
  failure_bytes: true,
  failure_causes: true,
  failure_container: true,
  failure_detail: true,
  failure_reason: true,
  failure_stage: true,
  file_etag: true,
  has_default_title: true,
  id: true,
  import_data: true,
  is_transcript_removed: true,
  max_duration_sec: true,
  max_upload_bytes: true,
  media_expires_at: true,
  media_type: true,
  next_check_at: true,
  one_step: true,
  participants: true,
  planned_recording_id: true,
  put_active_at: true,
  received_at: true,
  recorder_ids: true,
  recording_id: true,
  reserved_bytes: true,
  resumable_length: true,
  scope: true,
  spoken_language: true,
  start_datetime: true,
  status: true,
  team_id: true,
  title: true,
  transcript_info: true,
  updated_at: true,
  url_expires_at: true,
  work_attempts: true,
  work_error: true,
  work_kills: true,
  work_progress: true,
  work_started_at: true,
  workspace_id: true,
};

export const uploadColumns = Object.keys(columns) as (keyof UploadRow)[];

/** The fields of a new upload; the rest has defaults. */
export type NewUpload = Pick<
  UploadRow,
  | "id"
  | "workspace_id"
  | "created_by"
  | "scope"
  | "media_type"
  | "title"
  | "auto_promote"
  | "start_datetime"
  | "team_id"
  | "recorder_ids"
  | "participants"
> & {
  readonly import_data?: ImportData;
  readonly external_id?: string | null;
  readonly spoken_language?: string | null;
  readonly has_default_title?: boolean;
  readonly one_step?: Extract<MediaExpectation, { kind: "one_step" }>["extension"];
  /** For an upload with a file. */
  readonly file?: {
    readonly url_expires_at: Date;
    readonly max_duration_sec: number;
    readonly max_upload_bytes: number;
    readonly planned_recording_id: string;
    readonly next_check_at: Date;
  };
};

/** Which uploads a token sees: a personal token its own, a workspace token all of the workspace. */
function isOwn(principal: Principal) {
  return principal.scope === "workspace"
    ? sql<boolean>`workspace_id = ${principal.workspaceId}`
    : sql<boolean>`created_by = ${principal.userId} and scope = 'personal'`;
}

export async function insertUpload(
  tx: Tx,
  { file, import_data: data, ...upload }: NewUpload,
): Promise<UploadRow> {
  const row = await tx
    .insertInto("uploads")
    .values({
      ...upload,
      ...file,
      ...(data === undefined ? {} : { import_data: JSON.stringify(data) }),
      recorder_ids: [...upload.recorder_ids],
      participants: JSON.stringify(upload.participants),
      status: "initial",
    })
    .returning(uploadColumns)
    .modifyEnd(prepared)
    .executeTakeFirstOrThrow();
  return row;
}

export async function findUpload(
  db: Executor,
  principal: Principal,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const row = await db
    .selectFrom("uploads")
    .select(uploadColumns)
    .where("id", "=", uploadId)
    .where(isOwn(principal))
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row;
}

/** Uploads by their ids, whatever their creator. */
export async function findUploadsById(
  db: Executor,
  uploadIds: readonly string[],
): Promise<Map<string, UploadRow>> {
  if (uploadIds.length === 0) return new Map();
  const rows = await db.selectFrom("uploads").selectAll().where("id", "in", uploadIds).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Locks one of the principal's uploads for a change. */
export async function lockUpload(
  tx: Tx,
  principal: Principal,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const row = await tx
    .selectFrom("uploads")
    .select(uploadColumns)
    .where("id", "=", uploadId)
    .where(isOwn(principal))
    .forUpdate()
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row;
}

/** Locks an upload for a job, whatever its creator. */
export async function lockUploadById(tx: Tx, uploadId: string): Promise<UploadRow | undefined> {
  const row = await tx
    .selectFrom("uploads")
    .select(uploadColumns)
    .where("id", "=", uploadId)
    .forUpdate()
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row;
}

/** One page of uploads, newest first. */
export async function findUploads(
  db: Executor,
  principal: Principal,
  page: PageQuery<Position> & { readonly mediaType: UploadRow["media_type"] | undefined },
): Promise<UploadRow[]> {
  const { mediaType, after } = page;
  const rows = await db
    .selectFrom("uploads")
    .selectAll()
    .where(isOwn(principal))
    .$call((query) => (mediaType === undefined ? query : query.where("media_type", "=", mediaType)))
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.at}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
  return rows;
}

/** Fields that change together with the status. */
export interface StatusChange {
  readonly recordingId?: string;
  readonly failureReason?: string;
  /** The same as codes, where there are any. */
  readonly failureCauses?: readonly Cause[] | undefined;
  /** Of a failure. */
  readonly failureFacts?: FailureFacts | undefined;
  /** Of the received file. */
  readonly fileEtag?: string;
  readonly mediaExpiresAt?: Date;
  readonly facts?: MediaFacts;
  /** Only where the sender gave none. */
  readonly startDatetime?: Date | undefined;
  /** Replaces a title that the sender didn't choose. */
  readonly title?: { readonly text: string; readonly isDefault: boolean } | undefined;
  /** The upload waits for its review, whatever its sender said. */
  readonly mustBeReviewed?: boolean;
}

/**
 * Moves an upload from one status to another.
 * @returns the changed row, or undefined when it was no longer in `from`.
 */
export async function compareAndSetStatus(
  tx: Tx,
  uploadId: string,
  from: UploadStatus,
  to: UploadStatus,
  also: StatusChange,
): Promise<UploadRow | undefined> {
  const row = await tx
    .updateTable("uploads")
    .set({
      status: to,
      updated_at: sql`clock_timestamp()`,
      // Each status has its own job.
      work_started_at: null,
      work_attempts: 0,
      work_kills: 0,
      work_error: null,
      work_progress: null,
      ...(also.startDatetime === undefined
        ? {}
        : { start_datetime: sql<Date>`coalesce(start_datetime, ${also.startDatetime})` }),
      ...(also.title === undefined
        ? {}
        : { title: also.title.text, has_default_title: also.title.isDefault }),
      ...(also.mustBeReviewed ? { auto_promote: false } : {}),
      // Private notes are among what only a recording would have got.
      ...(to === "failure" ? { import_data: sql<string>`import_data - array['moved', 'notes']` } : {}),
      ...(also.recordingId === undefined ? {} : { recording_id: also.recordingId }),
      ...(also.failureReason === undefined ? {} : { failure_reason: also.failureReason }),
      ...(also.failureCauses === undefined ? {} : { failure_causes: JSON.stringify(also.failureCauses) }),
      ...(to === "failure" ? failureColumns(from, also.failureFacts) : {}),
      ...(also.fileEtag === undefined
        ? {}
        : { received_at: sql<Date>`clock_timestamp()`, file_etag: also.fileEtag }),
      ...(also.mediaExpiresAt === undefined ? {} : { media_expires_at: also.mediaExpiresAt }),
      ...(also.facts === undefined
        ? {}
        : { facts: JSON.stringify(also.facts), media_type: also.facts.mediaType }),
    })
    .where("id", "=", uploadId)
    .where("status", "=", from)
    .returning(uploadColumns)
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row;
}

/** More of a detail is not kept: half of it is a stack. */
const maxDetail = 4000;

function failureColumns(stage: UploadStatus, { detail, container, bytes }: FailureFacts = {}) {
  // PostgreSQL accepts no NUL and no halves of surrogate pairs.
  const text = detail?.replaceAll("\0", "").slice(0, maxDetail).toWellFormed();
  return {
    failure_stage: stage,
    failure_detail: text === "" ? null : (text ?? null),
    // What the file is, else what its sender said.
    failure_container:
      container ?? sql<string>`coalesce(facts ->> 'container', import_data ->> 'format', one_step)`,
    failure_bytes: bytes ?? sql<string>`(facts ->> 'sizeBytes')::bigint`,
  };
}

/** The fields that Update Upload may change. */
export type UploadChanges = Partial<
  Pick<
    UploadRow,
    "title" | "start_datetime" | "team_id" | "recorder_ids" | "participants" | "spoken_language"
  >
>;

export async function updateUploadAttributes(
  tx: Tx,
  uploadId: string,
  changes: UploadChanges,
): Promise<UploadRow> {
  const { participants, recorder_ids, ...plain } = changes;
  const row = await tx
    .updateTable("uploads")
    .set({
      ...plain,
      ...(participants === undefined ? {} : { participants: JSON.stringify(participants) }),
      ...(recorder_ids === undefined ? {} : { recorder_ids: [...recorder_ids] }),
      updated_at: sql`clock_timestamp()`,
    })
    .where("id", "=", uploadId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return row;
}

/** Replaces what an import adds to the attributes of its upload; the caller has locked it. */
export async function saveImportData(tx: Tx, uploadId: string, data: ImportData): Promise<UploadRow> {
  const row = await tx
    .updateTable("uploads")
    .set({ import_data: JSON.stringify(data), updated_at: sql`clock_timestamp()` })
    .where("id", "=", uploadId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return row;
}

/** Saves the transcript of an upload, replacing an earlier one. */
export async function saveUploadTranscript(
  tx: Tx,
  uploadId: string,
  transcript: TranscriptInput,
): Promise<void> {
  const segments = JSON.stringify(transcript.segments);
  const values = { language: transcript.language, segments, bytes: Buffer.byteLength(segments) };
  await tx
    .insertInto("upload_transcripts")
    .values({ upload_id: uploadId, ...values })
    .onConflict((conflict) => conflict.column("upload_id").doUpdateSet(values))
    .modifyEnd(prepared)
    .execute();
}

/** Removes the transcript of an upload. @returns whether there was one. */
export async function deleteUploadTranscript(tx: Tx, uploadId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("upload_transcripts")
    .where("upload_id", "=", uploadId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Sizes in bytes of these uploads' transcripts, by upload id. */
export async function findTranscriptSizes(
  db: Executor,
  uploadIds: readonly string[],
): Promise<Map<string, number>> {
  if (uploadIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("upload_transcripts")
    .select(["upload_id", "bytes"])
    .where("upload_id", "in", uploadIds)
    .execute();
  return new Map(rows.map((row) => [row.upload_id, row.bytes]));
}

/** These uploads' transcripts, by upload id. */
export async function findUploadTranscripts(
  db: Executor,
  uploadIds: readonly string[],
): Promise<Map<string, TranscriptInput>> {
  if (uploadIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("upload_transcripts")
    .selectAll()
    .where("upload_id", "in", uploadIds)
    .execute();
  return new Map(rows.map((row) => [row.upload_id, { language: row.language, segments: row.segments }]));
}
