import { sql } from "kysely";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { recordingsPrefix } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { clipPrefix, isShown, shownClips } from "../../../recordings/public-link-records/clips.ts";
import type { LinkRow } from "../../../recordings/public-link-records/queries.ts";
import { itemIdOf } from "../../../recordings/public-link-records/token.ts";

/** The item id of a recording's link. */
const wholeId = "recording";

/** An item that a link plays: a whole recording, or a highlight. */
export interface Item {
  /** Identifies it within the link. */
  readonly id: string;
  readonly recordingId: string;
  readonly title: string;
  /** The recording it is, or is cut from. */
  readonly recordingTitle: string | null;
  readonly startDatetime: Date;
  /** Start and end within the recording in ms; null: all of it. */
  readonly range: { readonly start: number; readonly end: number } | null;
  readonly durationMs: number;
  /** Markdown; null: the link does not include it, or there is none. */
  readonly summary: string | null;
  readonly chapters: readonly { readonly title: string; readonly start: number }[];
  /** The transcript_version of its recording. */
  readonly transcriptVersion: number;
  readonly state: "ready" | "preparing" | "failed" | "transcript_only";
  readonly format: "mp4" | "mp3" | null;
  /** Key prefix of its files in the store; null: it has none. */
  readonly prefix: string | null;
  /** Names of its files; known for highlights only. */
  readonly files: readonly string[] | null;
}

interface Row {
  readonly recording_id: string;
  readonly recording_title: string;
  readonly start_datetime: Date;
  readonly duration_ms: number;
  readonly transcript_version: number;
  readonly media_format: "mp4" | "mp3" | null;
}

interface WholeRow extends Row {
  readonly summary: string | null;
  readonly chapters: Item["chapters"] | null;
}

interface ClipRow extends Omit<Row, "recording_title"> {
  readonly highlight_id: string;
  /** Null: the recording is not public, and so its title is not either. */
  readonly clip_of: string | null;
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly clip_id: string | null;
  readonly clip_state: "ready" | "preparing" | "failed" | null;
  readonly clip_format: "mp4" | "mp3" | null;
  readonly files: readonly string[] | null;
}

/** The items that a link shows now, in order. */
export async function findItems(db: Executor, signer: LinkSigner, link: LinkRow): Promise<Item[]> {
  return link.kind === "recording" ? findWhole(db, link) : findClips(db, signer, link);
}

async function findWhole(db: Executor, link: LinkRow): Promise<Item[]> {
  const { rows } = await sql<WholeRow>`
    select r.id as recording_id, r.title as recording_title, r.start_datetime, r.duration_ms, r.transcript_version,
      m.format as media_format,
      case when ${link.include_summary} then nullif(r.ai_summary, '') end as summary,
      case when ${link.include_summary} then (
        select json_agg(json_build_object('title', c ->> 'title', 'start', (c ->> 'start')::integer) order by n)
        from jsonb_array_elements(r.ai_chapters) with ordinality x (c, n)) end as chapters
    from recordings r left join recording_media m on m.recording_id = r.id
    where r.id = ${link.subject_id} and r.share_state = 'public'`.execute(db);
  return rows.map((row) => ({
    id: wholeId,
    recordingId: row.recording_id,
    title: row.recording_title,
    recordingTitle: null,
    startDatetime: row.start_datetime,
    range: null,
    durationMs: row.duration_ms,
    summary: row.summary,
    chapters: row.chapters ?? [],
    transcriptVersion: row.transcript_version,
    state: row.media_format === null ? "transcript_only" : "ready",
    format: row.media_format,
    prefix: row.media_format === null ? null : `${recordingsPrefix}${row.recording_id}/`,
    files: null,
  }));
}

async function findClips(db: Executor, signer: LinkSigner, link: LinkRow): Promise<Item[]> {
  const { rows } = await sql<ClipRow>`
    select h.id as highlight_id, c.text, c.start_ms, c.end_ms, h.duration_ms,
      r.id as recording_id, case when r.share_state = 'public' then r.title end as clip_of,
      r.start_datetime, r.transcript_version, m.format as media_format, f.id as clip_id, f.state as clip_state, f.format as clip_format, f.files
    from ${sql.raw(shownClips)}
    join recordings r on r.id = h.recording_id
    left join recording_media m on m.recording_id = r.id
    left join clips f on f.highlight_id = h.id and f.start_ms = c.start_ms and f.end_ms = c.end_ms
    where l.id = ${link.id} and ${sql.raw(isShown)}
    order by sh.position, h.id`.execute(db);
  return rows.map((row) => {
    const isReady = row.clip_state === "ready" && row.clip_id !== null;
    return {
      id: itemIdOf(signer, link.id, row.highlight_id),
      recordingId: row.recording_id,
      title: row.text,
      recordingTitle: row.clip_of,
      startDatetime: row.start_datetime,
      range: { start: row.start_ms, end: row.end_ms },
      durationMs: row.end_ms - row.start_ms,
      summary: null,
      chapters: [],
      transcriptVersion: row.transcript_version,
      state: row.media_format === null ? "transcript_only" : (row.clip_state ?? "preparing"),
      format: isReady ? row.clip_format : row.media_format,
      prefix: isReady && row.clip_id !== null ? clipPrefix(row.recording_id, row.clip_id) : null,
      files: isReady ? row.files : null,
    };
  });
}

/** The names of an item's files. */
export async function filesOf(store: ObjectStore, item: Item): Promise<readonly string[]> {
  if (item.files !== null) return item.files;
  if (item.prefix === null) return [];
  const names: string[] = [];
  for await (const { key } of store.list(item.prefix)) names.push(key.slice(item.prefix.length));
  return names;
}
