import { sql } from "kysely";
import type { z } from "zod";
import type {
  TranscriptEdit,
  TranscriptEditDetails,
  TranscriptEditKind,
  TranscriptEditWithChanges,
  UsedSpeechModel,
} from "../../../contract/transcripts/transcript-history.ts";
import type { Executor } from "../../platform/db/database.ts";
import type { TranscriptChanges } from "../../platform/db/json-columns.ts";

interface Row {
  readonly number: number;
  readonly kind: TranscriptEditKind;
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly created_at: Date;
  readonly transcript_version: number;
  readonly segments: number;
  readonly details: TranscriptEditDetails;
  readonly undone_by: number | null;
}

const columns = sql`e.number, e.kind, e.user_id, u.name as user_name, e.created_at, e.transcript_version, e.segments,
  e.details, e.undone_by`;

/** One page of a transcript's edits, newest first. */
export async function findEdits(
  db: Executor,
  recordingId: string,
  page: { readonly before: number | null; readonly limit: number },
): Promise<z.input<typeof TranscriptEdit>[]> {
  const { rows } = await sql<Row>`
    select ${columns}
    from transcript_edits e left join users u on u.id = e.user_id
    where e.recording_id = ${recordingId} and (${page.before}::integer is null or e.number < ${page.before}::integer)
    order by e.number desc limit ${page.limit}`.execute(db);
  return rows.map(present);
}

export async function findEdit(
  db: Executor,
  recordingId: string,
  number: number,
): Promise<z.input<typeof TranscriptEditWithChanges> | undefined> {
  const { rows } = await sql<Row & { changes: TranscriptChanges }>`
    select ${columns}, e.changes
    from transcript_edits e left join users u on u.id = e.user_id
    where e.recording_id = ${recordingId} and e.number = ${number}`.execute(db);
  const row = rows[0];
  if (row === undefined) return undefined;
  const changes = row.changes.segments.map(({ positions, before, after }) => ({
    indexes: [...positions],
    before,
    after,
  }));
  return { ...present(row), changes };
}

/** What generated the current transcript; null when that is unknown or it was supplied. */
export async function findUsed(db: Executor, recordingId: string): Promise<UsedSpeechModel | null> {
  const { rows } = await sql<{ used: UsedSpeechModel | null }>`
    select used from transcriptions
    where recording_id = ${recordingId} and written_version is not null`.execute(db);
  return rows[0]?.used ?? null;
}

function present(row: Row): z.input<typeof TranscriptEdit> {
  return {
    number: row.number,
    kind: row.kind,
    user: row.user_id === null ? null : { id: row.user_id, name: row.user_name ?? "" },
    made_datetime: row.created_at.toISOString(),
    transcript_version: row.transcript_version,
    segments_changed: row.segments,
    details: row.details,
    undone_by: row.undone_by,
  };
}
