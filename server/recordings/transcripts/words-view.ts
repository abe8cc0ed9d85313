import { setImmediate as otherWork } from "node:timers/promises";
import { sql } from "kysely";
import type { Database, Tx } from "../../platform/db/database.ts";
import { clock, cueHead, escapeMarkup } from "../recordings/transcript/format.ts";
import { findTranscriptHead } from "./queries.ts";
import { type SegmentWithWords, wordsOf } from "./word-times.ts";

/** Segments that are read at a time. */
const batch = 200;

/** Characters that are rendered at a time, which takes a few milliseconds. */
const charactersAtOnce = 50_000;

interface Row extends SegmentWithWords {
  readonly position: number;
  readonly participant_id: string | null;
  readonly speaker: string;
  readonly is_edited: boolean;
}

/**
 * A transcript as the management API shows it, with the times of words.
 * @returns undefined if there is no such recording.
 */
export function renderWordsView(db: Database, recordingId: string): Promise<Buffer | undefined> {
  return render(db, recordingId, {
    head: (head) => `${head.slice(0, -1)},"segments":[`,
    segment: (row) => `${row.position === 0 ? "" : ","}${viewOf(row)}`,
    tail: "]}",
  });
}

/**
 * A transcript as WebVTT with a timestamp before each word whose time is known.
 * @returns undefined if there is no such recording.
 */
export function renderWordCues(db: Database, recordingId: string): Promise<Buffer | undefined> {
  return render(db, recordingId, { head: () => "WEBVTT\n", segment: cueOf, tail: "" });
}

interface Form {
  readonly head: (head: string) => string;
  readonly segment: (row: Row) => string;
  readonly tail: string;
}

/** Renders a transcript as of one moment, yielding to other requests in between. */
function render(db: Database, recordingId: string, form: Form): Promise<Buffer | undefined> {
  return db.kysely
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (tx) => {
      const head = await findTranscriptHead(tx, recordingId);
      if (head === undefined) return undefined;
      const pieces = [Buffer.from(form.head(head))];
      for (let from = 0; ; from += batch) {
        const rows = await findRows(tx, recordingId, from);
        if (rows.length === 0) break;
        let rendered = "";
        for (const row of rows) {
          rendered += form.segment(row);
          if (rendered.length < charactersAtOnce) continue;
          pieces.push(Buffer.from(rendered));
          rendered = "";
          await otherWork();
        }
        pieces.push(Buffer.from(rendered));
      }
      pieces.push(Buffer.from(form.tail));
      return Buffer.concat(pieces);
    });
}

async function findRows(tx: Tx, recordingId: string, from: number): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select position, participant_id, speaker, start_ms, end_ms, text, original is not null as is_edited,
      original ->> 'text' as original_text, word_times
    from transcript_segments
    where recording_id = ${recordingId} and position >= ${from} and position < ${from + batch}
    order by position`.execute(tx);
  return rows;
}

function viewOf(row: Row): string {
  const { position: index, participant_id, speaker, start_ms: start, end_ms: end, text, is_edited } = row;
  return JSON.stringify({ index, participant_id, speaker, start, end, text, is_edited, words: wordsOf(row) });
}

function cueOf(row: Row): string {
  const { position, speaker, start_ms: start, end_ms: end, text } = row;
  const words = wordsOf(row);
  let time = start;
  const timed = words.map((word) => {
    // A timestamp must be after the one before it and within the cue.
    const isNew = word.start !== null && word.start > time && word.start < end;
    if (isNew) time = word.start;
    return `${isNew ? `<${clock(time, ".")}>` : ""}${escapeMarkup(word.text)}`;
  });
  const body = words.length > 0 ? timed.join(" ") : escapeMarkup(text.trim().replace(/\s+/g, " "));
  return `${[...cueHead({ speaker, start, end }, position)].join("")}${body}</v>\n`;
}
