import type { Queryable } from "../../platform/db/replica.ts";
import { findMatches, type Word } from "./match.ts";
import { border, selectorsOf, type Term } from "./terms.ts";

/** A transcript segment with hits. */
export interface Moment {
  readonly recordingId: string;
  /** The segment's position. */
  readonly position: number;
  /** The indices of the terms it contains. */
  readonly found: ReadonlySet<number>;
  /** How many hits. */
  readonly count: number;
}

interface ChunkRow {
  readonly recording_id: string;
  readonly positions: number[];
  /** Words of the piece that may match, with their positions and stems. */
  readonly words: [word: string, places: number[], stem: string | null][] | null;
}

/**
 * Finds the segments of transcripts that contain the terms, in the order of time.
 * @param recordings with the transcript pieces to read; null for all.
 */
export async function findMoments(
  pool: Queryable,
  terms: readonly Term[],
  recordings: readonly { readonly id: string; readonly pieces: readonly number[] | null }[],
): Promise<Map<string, Moment[]>> {
  const places = recordings.flatMap(({ id, pieces }): { id: string; number: number | null }[] =>
    (pieces ?? [null]).map((number) => ({ id, number })),
  );
  if (places.length === 0) return new Map();
  const { words, beginnings, inner } = selectorsOf(terms);
  const values: unknown[] = [
    places.map((place) => place.id),
    places.map((place) => place.number),
    [border, ...words],
  ];
  // Words are in the order of their bytes, so that those with a beginning are next to each other.
  const slices = beginnings.map((text) => {
    const [from, to] = [text, `${text}\u{10FFFF}`].map((value) => `$${values.push(value)}::text collate "C"`);
    const notAbove = (value: string | undefined): string => `width_bucket(${value}, a.list collate "C")`;
    return `a.list[${notAbove(from)} + case when a.list[${notAbove(from)}] = ${from} then 0 else 1 end : ${notAbove(to)}]`;
  });
  const ends = inner.map(({ language, text }) => {
    const [of, end] = [language, text].map((value) => `$${values.push(value)}::text`);
    return `array(select word from unnest(a.list) word where s.language = ${of} and strpos(word, ${end}) > 1)`;
  });
  const { rows } = await pool.query<ChunkRow>({
    name: `search_moments_${slices.length}_${ends.length}`,
    text: `select c.recording_id, array_to_json(c.positions) as positions, w.words
     from (
       select s.recording_id, i.number, s.language, '=' || s.language || '=' as tag,
         (s.language || '_stem')::regdictionary as dictionary
       from unnest($1::uuid[], $2::integer[]) i (id, number)
       join search_recordings s on s.recording_id = i.id
       offset 0) s
     join search_chunks c on c.recording_id = s.recording_id and (s.number is null or c.number = s.number)
     -- All words of a piece take a third of the time, so they are read only for beginnings and ends.
     ${slices.length + ends.length > 0 ? "cross join lateral (select tsvector_to_array(c.words) as list offset 0) a" : ""}
     cross join lateral (select ${["$3::text[]", ...slices, ...ends].join(" || ")} as found) f
     cross join lateral (
       -- Taking out few words and then their places costs a fifth of going through the places of all.
       select json_agg(json_build_array(l.lexeme, l.positions, s.tag || (ts_lexize(s.dictionary, l.lexeme))[1])) as words
       from unnest(ts_filter(setweight(c.words, 'A', f.found), '{a}')) l) w
     order by c.recording_id, c.number`,
    values,
  });
  const moments = rows.flatMap((row) => readChunk(row, terms));
  return Map.groupBy(moments, (moment) => moment.recordingId);
}

function readChunk({ recording_id, positions, words }: ChunkRow, terms: readonly Term[]): Moment[] {
  const borders: number[] = [];
  const text = new Map<number, Word>();
  for (const [word, places, stem] of words ?? []) {
    if (word === border) borders.push(...places);
    else for (const place of places) text.set(place, { word, stems: stem === null ? [] : [stem] });
  }
  borders.sort((a, b) => a - b);
  const found = Map.groupBy(findMatches(text, terms, new Set(borders)), ({ at }) => countBelow(borders, at));
  return [...found.entries()]
    .sort(([a], [b]) => a - b)
    .flatMap(([nth, matches]) => {
      const position = positions[nth];
      if (position === undefined) return [];
      const found = new Set(matches.map((match) => match.term));
      return [{ recordingId: recording_id, position, found, count: matches.length }];
    });
}

/** The number of smaller values in a sorted array. */
function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
