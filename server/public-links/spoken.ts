import type pg from "pg";
import { findTranscript, type SegmentRow } from "../recordings/queries.ts";

/** What is listened to: all of a recording, or a range of it in ms. */
interface Heard {
  readonly recordingId: string;
  readonly range: { readonly start: number; readonly end: number } | null;
}

/**
 * What is said in an item, with times from its start. A segment that reaches beyond a highlight gives only the words
 * that lie in it: a transcript has times for segments, so where a word lies is taken from its place in the text.
 */
export async function findSpoken(pool: pg.Pool, { recordingId, range }: Heard): Promise<SegmentRow[]> {
  const segments =
    range === null ? await findTranscript(pool, recordingId) : await findAround(pool, recordingId, range);
  const named = segments.map((segment) => ({ ...segment, speaker: publicName(segment.speaker) }));
  return range === null ? named : named.flatMap((segment) => cutSegment(segment, range) ?? []);
}

/**
 * Who speaks in an item, in the order in which they begin; nobody: there are no words. Of a highlight only those whose
 * words are shown: a name tells who spoke right before or after it.
 */
export async function findSpeakers(pool: pg.Pool, { recordingId, range }: Heard): Promise<string[]> {
  const speakers =
    range === null ? await findAllSpeakers(pool, recordingId) : await findHeard(pool, recordingId, range);
  // Two people may be known by the same name in public.
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

/** Only what lies at the edges is read: who speaks within is heard, and a highlight may be hours long. */
async function findHeard(
  pool: pg.Pool,
  recordingId: string,
  range: { readonly start: number; readonly end: number },
): Promise<string[]> {
  const isWithin = "start_ms >= $2 and start_ms < $3 and end_ms <= $3 and text <> ''";
  const { rows } = await pool.query<SegmentRow & { is_within: boolean }>({
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

/** A person may be known by an address or a number alone, which is nobody's business but the workspace's. */
export function publicName(name: string): string {
  const plain = name.replace(/([^\s@<>()]+)@[^\s@<>()]+/g, "$1").trim();
  return plain === "" || /^\+?[\d\s()./-]{5,}$/.test(plain) ? "Unknown Speaker" : plain;
}

/** Nobody speaks faster than a character in so many milliseconds. */
const fastestMsPerCharacter = 30;

/** How long a character takes in plain talk. */
const usualMsPerCharacter = 65;

/**
 * Until when somebody speaks. Some transcripts know only when a line begins, or say that it ends sooner than it can be
 * said: what such a line holds is not all said by its end.
 */
function spokenUntil({ start, end, text }: Pick<SegmentRow, "start" | "end" | "text">): number {
  return end - start < text.length * fastestMsPerCharacter
    ? Math.max(end, start + text.length * usualMsPerCharacter)
    : end;
}

/** Also in languages that write no spaces: a line of those would otherwise be one word, shown or hidden as a whole. */
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
  const words = piecesOf(text).filter(({ from, to }) => {
    const middle = start + ((from + to) / 2) * perCharacter;
    return middle >= range.start && middle < range.end;
  });
  const [first, last] = [words[0], words.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { ...segment, ...times, text: text.slice(first.from, last.to) };
}

/** The words of a text with what is written around them, in places of the text. */
function piecesOf(text: string): { readonly from: number; readonly to: number }[] {
  return [...text.matchAll(/\S+/g)].flatMap(({ 0: written, index }) => {
    const starts = [...wordsOf.segment(written)].flatMap((part) => (part.isWordLike ? part.index : []));
    // Marks before the first word belong to it, those after a word to the one before.
    const cuts = [0, ...starts.slice(1), written.length];
    return cuts.slice(1).map((to, place) => ({ from: index + (cuts[place] ?? 0), to: index + to }));
  });
}
