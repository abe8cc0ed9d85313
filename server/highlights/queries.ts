import { type Selectable, sql } from "kysely";
import type pg from "pg";
import type { HighlightIncludeInput } from "../../contract/highlights.ts";
import type { Principal } from "../access/principal.ts";
import type { Tx } from "../db/database.ts";
import type { Highlights } from "../db/types.ts";
import type { Position } from "../http/cursor.ts";
import type { LinkSigner } from "../links/signer.ts";
import { thumbnailLinks } from "../recordings/links.ts";
import { type HighlightContext, highlightJson } from "../recordings/recording-json.ts";
import { presentRange, type SpokenSegment } from "./present.ts";

/** What the JSON of highlights needs for its links. */
export type HighlightLinks = Omit<HighlightContext, "bind">;

export function highlightLinks(signer: LinkSigner, baseUrl: string, now: Date): HighlightLinks {
  return { baseUrl, thumbnails: thumbnailLinks(signer, now) };
}

/**
 * Highlights by their ids, whoever may see them: callers ask that first.
 * @returns the contract's Highlight as JSON, by id; what is not there any more is missing.
 */
export async function findHighlightJson(
  pool: pg.Pool,
  ids: readonly string[],
  include: HighlightIncludeInput,
  links: HighlightLinks,
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { rows } = await pool.query<{ id: string; json: string }>(
    `select h.id, ${highlightJson({ bind, ...links })}::text as json
     from highlights h where h.id = any(${bind(ids)}::uuid[])`,
    values,
  );
  if (!include.transcript && !include.speakers) return new Map(rows.map((row) => [row.id, row.json]));
  const spoken = await findSpoken(pool, ids);
  return new Map(
    rows.map((row) => [
      row.id,
      // Added to what PostgreSQL wrote, which so needs not be parsed.
      `${row.json.slice(0, -1)},${JSON.stringify(presentRange(spoken.get(row.id) ?? [], include)).slice(1)}`,
    ]),
  );
}

/** What of a transcript lies in a highlight: at least a part of the segment; an empty one counts as an instant. */
export const isSpokenIn = `s.recording_id = h.recording_id
  and s.start_ms < h.start_ms::bigint + h.duration_ms and greatest(s.end_ms, s.start_ms + 1::bigint) > h.start_ms`;

/** What is said in each highlight, in spoken order. Read with each highlight, since a transcript may come later. */
async function findSpoken(pool: pg.Pool, ids: readonly string[]): Promise<Map<string, SpokenSegment[]>> {
  const { rows } = await pool.query<SpokenSegment & { id: string }>(
    `select h.id, s.participant_id, s.speaker, s.start_ms as start, s.end_ms as end, s.text
     from highlights h join transcript_segments s on ${isSpokenIn}
     where h.id = any($1::uuid[])
     order by h.id, s.position`,
    [ids],
  );
  return Map.groupBy(rows, (row) => row.id);
}

/** One highlight of a list, with its place in the order. */
export interface ListedHighlight {
  readonly id: string;
  readonly start_ms: number;
  /** Length of what is said in it; zero where nobody asked. */
  readonly transcript_length: number;
}

/** One page of the ids of a recording's highlights in the order in which they start. */
export async function listHighlightIds(
  pool: pg.Pool,
  recordingId: string,
  page: { readonly after: Position | null; readonly limit: number; readonly withLength: boolean },
): Promise<ListedHighlight[]> {
  const length = `(select coalesce(sum(length(s.text) + length(s.speaker)), 0)::integer
    from transcript_segments s where ${isSpokenIn})`;
  const { rows } = await pool.query<ListedHighlight>(
    `select h.id, h.start_ms, ${page.withLength ? length : "0"} as transcript_length
     from highlights h
     where h.recording_id = $1 and (h.start_ms, h.id) > ($2::bigint, $3::uuid)
     order by h.start_ms, h.id limit $4`,
    [
      recordingId,
      page.after?.at.getTime() ?? -1,
      page.after?.id ?? "00000000-0000-0000-0000-000000000000",
      page.limit,
    ],
  );
  return rows;
}

/** Whether the highlight exists and the principal sees its recording. */
export async function canSeeHighlight(
  pool: pg.Pool,
  principal: Principal,
  highlightId: string,
): Promise<boolean> {
  const { rows } = await pool.query(
    `select 1 from highlights h join recording_grants g on g.recording_id = h.recording_id
     where h.id = $1 and g.principal_id = any($2::uuid[]) limit 1`,
    [highlightId, principal.sees],
  );
  return rows.length > 0;
}

/** What the picture of a highlight is taken from. */
export interface HighlightPictureRow {
  readonly recording_id: string;
  readonly start_ms: number;
  readonly has_thumbnail: boolean;
  readonly has_storyboard: boolean;
}

export async function findHighlightPicture(
  pool: pg.Pool,
  highlightId: string,
): Promise<HighlightPictureRow | undefined> {
  const { rows } = await pool.query<HighlightPictureRow>(
    `select h.recording_id, h.start_ms, r.has_thumbnail, coalesce(m.has_storyboard, false) as has_storyboard
     from highlights h
     join recordings r on r.id = h.recording_id
     left join recording_media m on m.recording_id = h.recording_id
     where h.id = $1`,
    [highlightId],
  );
  return rows[0];
}

/** How long a recording is, and how many highlights it has. */
export async function findRoom(
  tx: Tx,
  recordingId: string,
): Promise<{ readonly duration_ms: number; readonly highlights: number }> {
  const { rows } = await sql<{ duration_ms: number; highlights: number }>`
    select r.duration_ms,
      (select count(*)::integer from highlights h where h.recording_id = r.id) as highlights
    from recordings r where r.id = ${recordingId}`.execute(tx);
  const room = rows[0];
  if (room === undefined) throw new Error(`recording ${recordingId} was not locked before`);
  return room;
}

/** The recording a highlight of the workspace belongs to, which never changes. */
export async function findRecordingOf(
  tx: Tx,
  workspaceId: string,
  highlightId: string,
): Promise<string | undefined> {
  const row = await tx
    .selectFrom("highlights")
    .innerJoin("recordings", "recordings.id", "highlights.recording_id")
    .select("recording_id")
    .where("highlights.id", "=", highlightId)
    .where("recordings.workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return row?.recording_id;
}

/** What of a highlight can be changed, and what decides who may. */
export type HighlightRow = Pick<
  Selectable<Highlights>,
  "id" | "recording_id" | "text" | "start_ms" | "duration_ms" | "tags" | "created_by"
>;
export type HighlightValues = Pick<HighlightRow, "text" | "start_ms" | "duration_ms" | "tags">;

/** Locks a highlight; its recording is to be locked before. */
export async function lockHighlight(tx: Tx, highlightId: string): Promise<HighlightRow | undefined> {
  return tx
    .selectFrom("highlights")
    .select(["id", "recording_id", "text", "start_ms", "duration_ms", "tags", "created_by"])
    .where("id", "=", highlightId)
    .forUpdate()
    .executeTakeFirst();
}

export async function insertHighlight(
  tx: Tx,
  highlight: HighlightValues &
    Pick<HighlightRow, "id" | "recording_id" | "created_by"> & { readonly workspace_id: string },
): Promise<void> {
  await tx.insertInto("highlights").values(highlight).execute();
}

export async function updateHighlightRow(
  tx: Tx,
  highlightId: string,
  values: HighlightValues,
): Promise<void> {
  await tx
    .updateTable("highlights")
    .set({ ...values, updated_at: sql`clock_timestamp()` })
    .where("id", "=", highlightId)
    .execute();
}

export async function deleteHighlightRow(tx: Tx, highlightId: string): Promise<void> {
  await tx.deleteFrom("highlights").where("id", "=", highlightId).execute();
}
