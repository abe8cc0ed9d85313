import type pg from "pg";
import { stemmers } from "./languages.ts";
import { findMatches, type Word } from "./match.ts";
import { border, spokenQuery, type Term } from "./terms.ts";

/** A segment of a transcript in which something was found. */
export interface Moment {
  readonly recordingId: string;
  /** Of the segment. */
  readonly position: number;
  /** How many of the terms, and how often any of them. */
  readonly terms: number;
  readonly count: number;
}

interface ChunkRow {
  readonly recording_id: string;
  readonly positions: number[];
  /** Words of the piece that may be meant, with their places and their stem. */
  readonly words: [word: string, places: number[], stem: string | null][];
}

/**
 * Where in the transcripts of recordings the terms are, in the order of time.
 * @param pieces how many pieces of each transcript to read, the best first; all without.
 */
export async function findMoments(
  pool: pg.Pool,
  terms: readonly Term[],
  recordingIds: readonly string[],
  pieces: number | null,
): Promise<Map<string, Moment[]>> {
  if (recordingIds.length === 0) return new Map();
  const languages = ["", ...stemmers];
  const wanted = terms.filter((term) => !term.isExcluded);
  const { rows } = await pool.query<ChunkRow>(
    `select c.recording_id, c.positions, w.words
     from unnest($1::uuid[]) i (id)
     join search_recordings s on s.recording_id = i.id
     join unnest($2::text[], $3::tsquery[]) q (language, query) on q.language = coalesce(s.language, '')
     cross join lateral (
       select c.recording_id, c.number, c.positions, c.words
       from search_chunks c where c.recording_id = s.recording_id and c.words @@ q.query
       order by ts_rank(c.words, q.query) desc, c.number limit $4) c
     cross join lateral (
       select json_agg(json_build_array(l.lexeme, l.positions, l.stem)) as words
       from (
         select l.lexeme, l.positions,
           case when left(l.lexeme, 1) = any($5::text[]) then parley_search_stem(s.language, l.lexeme) end as stem
         from unnest(c.words) l
         where l.lexeme = '${border}' or left(l.lexeme, 1) = any($5::text[])
         offset 0) l
       where l.lexeme = '${border}' or l.lexeme = any($6::text[]) or l.stem = any($7::text[])
         or exists (select 1 from unnest($8::text[]) p where starts_with(l.lexeme, p))) w
     where w.words is not null
     order by c.recording_id, c.number`,
    [
      recordingIds,
      languages,
      languages.map((language) => spokenQuery(terms, language)),
      pieces,
      // A stem begins with the same letter as its word: the others need not be looked at.
      [...new Set(wanted.flatMap((term) => term.words.map((word) => [...word][0] ?? "")))],
      wanted.flatMap((term) => term.words),
      wanted.flatMap((term) => term.stems),
      wanted.filter((term) => term.isPrefix).map((term) => term.words.at(-1)),
    ],
  );
  const moments = rows.flatMap((row) => readChunk(row, terms));
  return Map.groupBy(moments, (moment) => moment.recordingId);
}

function readChunk({ recording_id, positions, words }: ChunkRow, terms: readonly Term[]): Moment[] {
  const borders: number[] = [];
  const text = new Map<number, Word>();
  for (const [word, places, stem] of words) {
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
      const count = matches.length;
      return [
        { recordingId: recording_id, position, terms: new Set(matches.map((m) => m.term)).size, count },
      ];
    });
}

/** How many of the sorted values are smaller. */
function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
