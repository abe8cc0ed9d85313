import type pg from "pg";
import { findTranscript, type SegmentRow } from "../../../recordings/recordings/queries.ts";

/** A whole recording, or a range of it in ms. */
interface Excerpt {
  readonly recordingId: string;
  readonly range: { readonly start: number; readonly end: number } | null;
}

/**
 * The segments of an item, with times from its start. A segment that extends beyond a highlight gives only the words
 * that lie in it: a transcript has times for segments, so where a word lies is taken from its place in the text.
 */
export async function findExcerpt(pool: pg.Pool, { recordingId, range }: Excerpt): Promise<SegmentRow[]> {
  const segments =
    range === null ? await findTranscript(pool, recordingId) : await findAround(pool, recordingId, range);
  const named = segments.map((segment) => ({ ...segment, speaker: publicName(segment.speaker) }));
  return range === null ? named : named.flatMap((segment) => cutSegment(segment, range) ?? []);
}

/**
 * The speakers of an item in the order in which they first speak. Of a highlight only those whose words are shown, because
 * other names would reveal who spoke right before or after it.
 */
export async function findSpeakers(pool: pg.Pool, { recordingId, range }: Excerpt): Promise<string[]> {
  const speakers =
    range === null ? await findAllSpeakers(pool, recordingId) : await findHeard(pool, recordingId, range);
  // Two participants may have the same public name.
  return [...new Set(speakers.map(publicName))];
}

async function findAllSpeakers(pool: pg.Pool, recordingId: string): Promise<string[]> {
  const { rows } = await pool.query<{ speaker: string }>({
    name: "find_shared_speakers",
    text: "select speaker from transcript_segments where recording_id = $1 group by speaker order by min(position)",
    values: [recordingId],
  });
  return rows.map((row) => row.speaker);
}

interface HeardRow extends Pick<SegmentRow, "speaker" | "start" | "end" | "text"> {
  readonly position: number;
  /** All of the speaker's segments that lie in the range; `start`, `end` and `text` are those of no segment. */
  readonly is_within: boolean;
}

/** Reads texts only at the edges: segments within are shown anyway, and a highlight may be hours long. */
async function findHeard(
  pool: pg.Pool,
  recordingId: string,
  range: { readonly start: number; readonly end: number },
): Promise<string[]> {
  const isWithin = "start_ms >= $2 and start_ms < $3 and end_ms <= $3 and text <> ''";
  const { rows } = await pool.query<HeardRow>({
    name: "find_shared_heard",
    text: `select speaker, min(position) as position, true as is_within, 0 as start, 0 as end, '' as text
           from transcript_segments where recording_id = $1 and ${isWithin} group by speaker
           union all
           select speaker, position, false, start_ms, end_ms, text from transcript_segments
           where recording_id = $1 and start_ms < $3 and greatest(end_ms, start_ms + 1::bigint) > $2
             and not (${isWithin})
           order by position`,
    values: [recordingId, range.start, range.end],
  });
  return rows.filter((row) => row.is_within || cutSegment(row, range) !== null).map((row) => row.speaker);
}

async function findAround(
  pool: pg.Pool,
  recordingId: string,
  range: { readonly start: number; readonly end: number },
): Promise<SegmentRow[]> {
  const { rows } = await pool.query<SegmentRow>({
    name: "find_shared_transcript",
    text: `select participant_id, speaker, start_ms as start, end_ms as end, text
           from transcript_segments
           where recording_id = $1 and start_ms < $3 and greatest(end_ms, start_ms + 1::bigint) > $2
           order by position`,
    values: [recordingId, range.start, range.end],
  });
  return rows;
}

/** Hides email addresses and phone numbers, which some participants have instead of a name. */
export function publicName(name: string): string {
  const plain = name.replace(/[^\s<>()]+/g, withoutDomain).trim();
  return plain === "" || /^\+?[\d\s()./-]{5,}$/.test(plain) ? "Unknown Speaker" : plain;
}

/** The part of an email before the @; other words are unchanged. */
function withoutDomain(word: string): string {
  const [local, domain] = word.split("@", 2);
  return local && domain ? local : word;
}

/** The fastest speech, in milliseconds per character. */
const fastestMsPerCharacter = 30;

/** Ordinary speech, in milliseconds per character. */
const usualMsPerCharacter = 65;

/**
 * When a segment's words have been spoken. Some transcripts have no end times, or ends too early for the words to be
 * spoken by then.
 */
function spokenUntil({ start, end, text }: Pick<SegmentRow, "start" | "end" | "text">): number {
  return end - start < text.length * fastestMsPerCharacter
    ? Math.max(end, start + text.length * usualMsPerCharacter)
    : end;
}

/** Finds words in languages without spaces too, where a line would otherwise be shown or hidden as a whole. */
const wordsOf = new Intl.Segmenter(undefined, { granularity: "word" });

/** @returns what of a segment lies in a range, with times from the range's start; null where nothing does. */
export function cutSegment<Segment extends Pick<SegmentRow, "start" | "end" | "text">>(
  segment: Segment,
  range: { readonly start: number; readonly end: number },
): Segment | null {
  const { start, end, text } = segment;
  const until = spokenUntil(segment);
  if (start >= range.end || Math.max(until, start + 1) <= range.start) return null;
  const times = {
    start: Math.max(start, range.start) - range.start,
    end: Math.min(Math.max(end, start, range.start), range.end) - range.start,
  };
  if (start >= range.start && until <= range.end) return { ...segment, ...times };
  const perCharacter = (until - start) / Math.max(1, text.length);
  const from = firstWordAt(text, (range.start - start) / perCharacter);
  const to = lastWordBefore(text, (range.end - start) / perCharacter);
  return from === null || to === null || from >= to
    ? null
    : { ...segment, ...times, text: text.slice(from, to) };
}

/** Characters around an offset that are split into words; old segments, stored before there was a limit, may be megabytes. */
const nearby = 2000;

/** The start of the first word whose middle is at or after an offset; null: there is none. */
function firstWordAt(text: string, at: number): number | null {
  const words = piecesAround(text, skipSpace(text, clampPlace(text, at)));
  return words.find(({ from, to }) => (from + to) / 2 >= at)?.from ?? null;
}

/** The end of the last word whose middle is before an offset; null: there is none. */
function lastWordBefore(text: string, at: number): number | null {
  const words = piecesAround(text, skipSpaceBack(text, clampPlace(text, at)));
  return words.findLast(({ from, to }) => (from + to) / 2 < at)?.to ?? null;
}

function clampPlace(text: string, at: number): number {
  return Math.min(Math.max(0, Math.floor(at)), text.length);
}

function skipSpace(text: string, at: number): number {
  let place = at;
  while (place < text.length && /\s/.test(text.charAt(place))) place += 1;
  return place;
}

function skipSpaceBack(text: string, at: number): number {
  let place = at;
  while (place > 0 && /\s/.test(text.charAt(place - 1))) place -= 1;
  return place;
}

/** The words near an offset with adjacent punctuation, as offsets in the text. */
function piecesAround(text: string, at: number): { readonly from: number; readonly to: number }[] {
  const start = wholeCharacter(text, Math.max(0, at - nearby));
  const end = wholeCharacter(text, Math.min(text.length, at + nearby));
  return piecesOf(text.slice(start, end)).map(({ from, to }) => ({ from: from + start, to: to + start }));
}

function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
}

/** The words of a text with adjacent punctuation, as offsets in the text. */
function piecesOf(text: string): { readonly from: number; readonly to: number }[] {
  return [...text.matchAll(/\S+/g)].flatMap(({ 0: written, index }) => {
    const starts = [...wordsOf.segment(written)].flatMap((part) => (part.isWordLike ? part.index : []));
    // Punctuation before the first word belongs to it; punctuation after a word belongs to that word.
    const cuts = [0, ...starts.slice(1), written.length];
    return cuts.slice(1).map((to, place) => ({ from: index + (cuts[place] ?? 0), to: index + to }));
  });
}
