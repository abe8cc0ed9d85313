import { type Selectable, sql } from "kysely";
import type pg from "pg";
import type { HighlightIncludeInput } from "../../../contract/recordings/highlights.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Tx } from "../../platform/db/database.ts";
import type { Highlights } from "../../platform/db/types.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";
import { type HighlightContext, highlightJson } from "../recordings/json/highlight.ts";
import { thumbnailLinks } from "../recordings/json/links.ts";
import { addTranscript, type SpokenSegment } from "./present.ts";

/** The values that a highlight's JSON needs for its URLs. */
export type HighlightLinks = Omit<HighlightContext, "bind">;

export function highlightLinks(signer: LinkSigner, baseUrl: string, viewerId: string): HighlightLinks {
  return { baseUrl, thumbnails: thumbnailLinks(signer, viewerId) };
}

/**
 * Highlights by id. Callers check first that the viewer can see them.
 * @returns the contract's Highlight as JSON, by id; deleted ones and those in the trash are omitted.
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
     from highlights h where h.id = any(${bind(ids)}::uuid[])
       and not exists (select 1 from trashed_recordings t where t.recording_id = h.recording_id)`,
    values,
  );
  if (!include.transcript && !include.speakers) return new Map(rows.map((row) => [row.id, row.json]));
  const spoken = await findSpoken(pool, ids);
  const added = new Map<string, string>();
  for (const { id, json } of rows) added.set(id, await addTranscript(json, spoken.get(id) ?? [], include));
  return added;
}

/** Whether segment `s` overlaps highlight `h`; an empty segment counts as an instant. */
export const overlapsHighlight = `s.recording_id = h.recording_id
  and s.start_ms < h.start_ms::bigint + h.duration_ms and greatest(s.end_ms, s.start_ms + 1::bigint) > h.start_ms`;

/** The segments of each highlight, in spoken order. Not stored, because a transcript may be added or edited later. */
async function findSpoken(pool: pg.Pool, ids: readonly string[]): Promise<Map<string, SpokenSegment[]>> {
  const { rows } = await pool.query<SpokenSegment & { id: string }>(
    `select h.id, s.participant_id, s.speaker, s.start_ms as start, s.end_ms as end, s.text
     from highlights h join transcript_segments s on ${overlapsHighlight}
     where h.id = any($1::uuid[])
     order by h.id, s.position`,
    [ids],
  );
  return Map.groupBy(rows, (row) => row.id);
}

/** A listed highlight with its cursor position. */
export interface ListedHighlight {
  readonly id: string;
  readonly start_ms: number;
  /** Length of what is said in it; zero where nobody asked. */
  readonly transcript_length: number;
}

/** A page of ids of a recording's highlights, in the order of their start. */
export async function listHighlightIds(
  pool: pg.Pool,
  recordingId: string,
  page: PageQuery<Position> & { readonly withLength: boolean },
): Promise<ListedHighlight[]> {
  const length = `(select coalesce(sum(length(s.text) + length(s.speaker)), 0)::integer
    from transcript_segments s where ${overlapsHighlight})`;
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

/** Whether the highlight exists and the principal can see its recording. */
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

/** What a highlight's thumbnail is cut from. */
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

/** The length of a recording and its number of highlights. */
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

/** The recording of a highlight of the workspace, which never changes. */
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

/** The fields of a highlight that can be changed, and those that decide who may change them. */
export type HighlightRow = Pick<
  Selectable<Highlights>,
  "id" | "recording_id" | "text" | "start_ms" | "duration_ms" | "tags" | "created_by"
>;
export type HighlightValues = Pick<HighlightRow, "text" | "start_ms" | "duration_ms" | "tags">;

/** Locks a highlight; the caller has locked its recording. */
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
