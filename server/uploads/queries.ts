import { type Selectable, sql } from "kysely";
import type { TranscriptInput, UploadStatus } from "../../contract/uploads.ts";
import type { Principal } from "../access/principal.ts";
import type { Executor, Tx } from "../db/database.ts";
import type { Uploads } from "../db/types.ts";
import type { Position } from "../http/cursor.ts";
import type { MediaExpectation, MediaFacts } from "../media/facts.ts";
import type { ImportData, ParticipantExtra } from "./import-data.ts";

/** A person an upload names, as the client wrote it. */
export interface UploadParticipant {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly speaker_key: string | null;
  /** Of an import. */
  readonly extra?: ParticipantExtra;
}

/** One row of uploads. */
export type UploadRow = Omit<
  Selectable<Uploads>,
  "participants" | "status" | "media_type" | "scope" | "facts" | "one_step" | "import_data"
> & {
  readonly import_data: ImportData | null;
  readonly facts: MediaFacts | null;
  readonly one_step: Extract<MediaExpectation, { kind: "one_step" }>["extension"] | null;
  readonly participants: readonly UploadParticipant[];
  readonly status: UploadStatus;
  readonly media_type: "audio" | "video" | "transcript";
  readonly scope: "personal" | "workspace";
};

/** What a new upload is made of; the rest has defaults. */
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

/** Which uploads a token sees: a personal one its own, a workspace one all of the workspace. */
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
    .returningAll()
    .executeTakeFirstOrThrow();
  return row as unknown as UploadRow;
}

export async function findUpload(
  db: Executor,
  principal: Principal,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const row = await db
    .selectFrom("uploads")
    .selectAll()
    .where("id", "=", uploadId)
    .where(isOwn(principal))
    .executeTakeFirst();
  return row as unknown as UploadRow | undefined;
}

/** Uploads by their ids, whoever made them. */
export async function findUploadsById(
  db: Executor,
  uploadIds: readonly string[],
): Promise<Map<string, UploadRow>> {
  if (uploadIds.length === 0) return new Map();
  const rows = await db.selectFrom("uploads").selectAll().where("id", "in", uploadIds).execute();
  return new Map((rows as unknown as UploadRow[]).map((row) => [row.id, row]));
}

/** Locks an upload of the principal's for a change. */
export async function lockUpload(
  tx: Tx,
  principal: Principal,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const row = await tx
    .selectFrom("uploads")
    .selectAll()
    .where("id", "=", uploadId)
    .where(isOwn(principal))
    .forUpdate()
    .executeTakeFirst();
  return row as unknown as UploadRow | undefined;
}

/** Locks an upload for a job, whoever made it. */
export async function lockUploadById(tx: Tx, uploadId: string): Promise<UploadRow | undefined> {
  const row = await tx
    .selectFrom("uploads")
    .selectAll()
    .where("id", "=", uploadId)
    .forUpdate()
    .executeTakeFirst();
  return row as unknown as UploadRow | undefined;
}

/** One page of uploads, newest first. */
export async function findUploads(
  db: Executor,
  principal: Principal,
  page: { mediaType: string | undefined; after: Position | null; limit: number },
): Promise<UploadRow[]> {
  const { mediaType, after } = page;
  const rows = await db
    .selectFrom("uploads")
    .selectAll()
    .where(isOwn(principal))
    .$if(mediaType !== undefined, (query) => query.where("media_type", "=", mediaType ?? ""))
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.at}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
  return rows as unknown as UploadRow[];
}

/** What changes together with the status. */
export interface StatusChange {
  readonly recordingId?: string;
  readonly failureReason?: string;
  /** Of the file that has been received. */
  readonly fileEtag?: string;
  readonly mediaExpiresAt?: Date;
  readonly facts?: MediaFacts;
}

/**
 * Moves an upload from one status to another, and only from that one.
 * @returns the changed row, or undefined when it was not in `from` any more.
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
      // Each status has a job of its own.
      work_started_at: null,
      work_attempts: 0,
      work_kills: 0,
      work_error: null,
      ...(also.recordingId === undefined ? {} : { recording_id: also.recordingId }),
      ...(also.failureReason === undefined ? {} : { failure_reason: also.failureReason }),
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
    .returningAll()
    .executeTakeFirst();
  return row as unknown as UploadRow | undefined;
}

/** What Update Upload may change. */
export type UploadChanges = Partial<
  Pick<UploadRow, "title" | "start_datetime" | "team_id" | "recorder_ids" | "participants">
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
  return row as unknown as UploadRow;
}

/** Keeps the transcript of an upload, in the place of an earlier one. */
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
    .execute();
}

/** Sizes in bytes of the transcripts of these uploads, by upload id. */
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

/** Transcripts of these uploads by upload id. */
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
  return new Map(
    rows.map((row) => [
      row.upload_id,
      { language: row.language, segments: row.segments as unknown as TranscriptInput["segments"] },
    ]),
  );
}
