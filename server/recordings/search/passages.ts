import type { RecordingFilterInput } from "../../../contract/recordings/recordings.ts";
import { maxQueryTerms } from "../../../contract/recordings/search.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { filterConditions as grantConditions } from "../recordings/list/list-query.ts";
import { wide } from "./characters.ts";
import { filterConditions, type SearchFilter } from "./find.ts";
import { stemmers } from "./languages.ts";
import { findMoments } from "./moments.ts";
import { type ReadTerm, readQuery } from "./read-query.ts";
import { rankedQuery, spokenQuery, type Term, wantedQuery } from "./terms.ts";

/** A segment, or a part of a long one. */
export interface PassageLine {
  readonly position: number;
  readonly start: number;
  readonly end: number;
  readonly speaker: string;
  readonly text: string;
}

/** Consecutive lines of a transcript, about 200 words. */
export interface FoundPassage {
  readonly recordingId: string;
  readonly lines: readonly PassageLine[];
}

/** The filters of a search, and those of the library. */
export interface PassageFilter
  extends SearchFilter,
    Pick<RecordingFilterInput, "title_search" | "participant_scope" | "attendance"> {
  readonly favorite?: boolean | undefined;
}

/** Words of a passage: it ends with the line that reaches them. */
const passageWords = 200;

/** Recordings, and pieces of their transcripts, that are read for one search. */
const maxRecordings = 60;
const maxPieces = 40;

/** Recordings counted for a word: what more have says little, and counting them takes long. */
const maxCounted = 20_000;

/**
 * Recordings that the words of a text may have together, by PostgreSQL's statistics, and how many words are searched in any
 * case. Words beyond that, the commonest, don't choose recordings; they count in their pieces.
 */
const maxSearched = 60_000;
const minWords = 4;

/**
 * The passages of transcripts that a principal can see which have the most, and the rarest, words of a text, best first.
 * What is beside a passage, and in its recording, counts too. Unlike a search, none of the words must occur.
 */
export async function findPassages(
  pool: Queryable,
  principal: Principal,
  text: string,
  filter: PassageFilter,
  limit: number,
): Promise<FoundPassage[]> {
  const terms = await readWords(pool, text);
  if (terms.length === 0) return [];
  const found = await rankRecordings(
    pool,
    principal,
    terms,
    await chooseWords(pool, principal, terms),
    filter,
  );
  if (found.ids.length === 0) return [];
  const pieces = await rankPieces(pool, terms, found);
  const moments = await findMoments(
    pool,
    terms,
    [...Map.groupBy(pieces, ({ id }) => id)].map(([id, all]) => ({
      id,
      pieces: all.map(({ number }) => number),
    })),
  );
  const lines = await readPieces(pool, pieces);
  const read = pieces.map(({ id, number, language, recordingScore }) => {
    const termsAt = new Map(moments.get(id)?.map((moment) => [moment.position, moment.found]));
    const passages = cutPassages(lines.get(`${id} ${number}`) ?? []).map((passage) => ({
      passage: { recordingId: id, lines: passage },
      terms: new Set(passage.flatMap(({ position }) => [...(termsAt.get(position) ?? [])])),
    }));
    return { language, recordingScore, passages };
  });
  // A word is common or rare among passages of the same language: no other language has most of its words.
  const scored = [...Map.groupBy(read, ({ language }) => language).values()].flatMap((found) => {
    const all = found.flatMap(({ passages }) => passages);
    const weights = terms.map((_, n) => rarity(all.filter((one) => one.terms.has(n)).length, all.length));
    return found.flatMap(({ recordingScore, passages }) => {
      const own = passages.map((one) => [...one.terms].reduce((sum, term) => sum + (weights[term] ?? 0), 0));
      return passages.map(({ passage }, n) => {
        const beside = Math.max(own[n - 1] ?? 0, own[n + 1] ?? 0);
        return { passage, score: (own[n] ?? 0) + besideWeight * beside + contextWeight * recordingScore };
      });
    });
  });
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ passage }) => passage);
}

/**
 * How much of the score of the better passage beside it, and of its recording, a passage has: what is wanted
 * is often said in other words than those that led to it. Measured by ask/questions.test.ts: 58 of 60 instead of 52.
 */
const besideWeight = 1 / 3;
const contextWeight = 1 / 2;

/** How much a word says that so many of all texts have: nearly nothing if all have it (as in BM25). */
function rarity(count: number, all: number): number {
  return Math.log(1 + (all - count + 0.5) / (count + 0.5));
}

/** Consecutive lines as passages of about 200 words. */
export function cutPassages(lines: readonly PassageLine[]): PassageLine[][] {
  const passages: PassageLine[][] = [];
  let passage: PassageLine[] = [];
  let words = 0;
  for (const line of lines.flatMap(cutLongLine)) {
    passage.push(line);
    words += countWords(line.text);
    if (words < passageWords) continue;
    passages.push(passage);
    passage = [];
    words = 0;
  }
  if (passage.length > 0) passages.push(passage);
  return passages;
}

// Linear: one character.
const wideCharacter = new RegExp(`[${wide}]`, "gu");

/** Scripts without spaces have about two characters to a word. */
function countWords(text: string): number {
  const signs = text.match(wideCharacter)?.length ?? 0;
  return text.split(/\s+/).length + Math.floor(signs / 2);
}

/** A line with far more words than a passage, in parts. */
function cutLongLine(line: PassageLine): PassageLine[] {
  if (countWords(line.text) <= 2 * passageWords) return [line];
  const words = line.text.split(/(?<=\s)/);
  const parts: string[] = [];
  for (let at = 0; at < words.length; at += passageWords)
    parts.push(words.slice(at, at + passageWords).join(""));
  // Text without spaces, by characters.
  return parts
    .flatMap((part) => part.match(/[\s\S]{1,3000}/gu) ?? [])
    .map((part) => ({ ...line, text: part.trim() }));
}

/** The words of a text as terms, each of which may occur. Characters of scripts without spaces count in pairs. */
async function readWords(pool: Queryable, text: string): Promise<readonly Term[]> {
  const words = (
    text.normalize("NFKC").match(/[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)*/gu) ?? []
  ).flatMap((word) => {
    if (word.search(wideCharacter) < 0) return [word];
    const signs = [...word];
    return signs.length < 3 ? [`"${word}"`] : signs.slice(1).map((sign, n) => `"${signs[n]}${sign}"`);
  });
  const unique = [...new Map(words.map((word) => [word.toLowerCase(), word])).values()];
  // The longest, where there are too many: they say the most.
  const wanted = new Set(unique.toSorted((a, b) => b.length - a.length).slice(0, maxQueryTerms));
  const query = unique.filter((word) => wanted.has(word)).join(" ");
  if (query === "") return [];
  try {
    return dropCommon(await readQuery(pool, query));
  } catch (error) {
    // It has no word of the index.
    if (error instanceof ProblemError) return [];
    throw error;
  }
}

/** Without the words that are too common in the language that has the most of them, unless there are no others. */
function dropCommon(terms: readonly ReadTerm[]): readonly Term[] {
  const counts = Map.groupBy(
    terms.flatMap(({ commonIn }) => commonIn),
    (language) => language,
  );
  const [language] = [...counts].reduce(
    (best, next) => (next[1].length > best[1].length ? next : best),
    ["", [] as string[]],
  );
  const telling = terms.filter(({ commonIn }) => !commonIn.includes(language));
  return telling.length > 0 ? telling : terms;
}

/** What is known of a term before it is searched. */
interface Choice {
  readonly isSearched: boolean;
  /** How much it says by the estimate, where it is not searched. */
  readonly weight: number;
}

/** The rarest words, as many as can be searched quickly. */
async function chooseWords(
  pool: Queryable,
  { sees }: Principal,
  terms: readonly Term[],
): Promise<readonly Choice[]> {
  if (terms.length <= minWords) return terms.map(() => ({ isSearched: true, weight: 0 }));
  const forms = terms.flatMap(({ words, stems }, n) => [...words, ...stems].map((form) => ({ n, form })));
  const { rows } = await pool.query<{ n: number; count: number; all: number }>({
    name: "search_estimate_words",
    // A form that is not among the common ones is taken to have half the share of the rarest of these, as PostgreSQL does. A
    // phrase is as rare as its rarest word. Without statistics there are no rows.
    text: `with stats as (
        select attname, most_common_elems::text::text[] as elems, most_common_elem_freqs as shares
        from pg_stats where schemaname = current_schema() and tablename = 'search_recordings'),
      known as (
        select s.attname, u.elem, u.share from stats s, unnest(s.elems, s.shares) u (elem, share) where u.elem is not null),
      other as (select attname, shares[cardinality(elems) + 1] / 2 as share from stats),
      visible as (
        select c.reltuples * least(1, sum(coalesce(k.share, o.share))) as count
        from pg_class c, other o, unnest($1::text[]) viewer
        left join known k on k.attname = 'principals' and k.elem = viewer
        where c.oid = 'search_recordings'::regclass and o.attname = 'principals' group by c.reltuples)
      select f.n, v.count as all,
        v.count * case when bool_or(f.is_phrase) then min(coalesce(k.share, o.share)) else max(coalesce(k.share, o.share)) end as count
      from visible v, other o, unnest($2::integer[], $3::text[], $4::boolean[]) f (n, form, is_phrase)
      left join known k on k.attname = 'words' and k.elem = f.form
      where o.attname = 'words' group by f.n, v.count`,
    values: [
      sees,
      forms.map(({ n }) => n),
      forms.map(({ form }) => form),
      forms.map(({ n }) => (terms[n]?.words.length ?? 0) > 1),
    ],
  });
  const estimates = new Map(rows.map(({ n, count, all }) => [n, { count, weight: rarity(count, all) }]));
  let searched = 0;
  let sum = 0;
  const choices = terms.map((term, n) => ({ term, n, ...(estimates.get(n) ?? { count: 0, weight: 0 }) }));
  return (
    choices
      // Of words that are not known, the longest say the most.
      .toSorted((a, b) => a.count - b.count || lengthOf(b.term) - lengthOf(a.term))
      .map(({ n, count, weight }) => {
        sum += Math.min(count, maxCounted);
        const isSearched = searched < minWords || sum <= maxSearched;
        if (isSearched) searched += 1;
        return { n, isSearched, weight };
      })
      .toSorted((a, b) => a.n - b.n)
  );
}

function lengthOf({ words }: Term): number {
  return words.join("").length;
}

interface RankedRecordings {
  readonly ids: readonly string[];
  /** How much of the text each has: words in its title, tags, participants and highlights count twice. */
  readonly scores: readonly number[];
  /** How much each term says: the rarer it is, the more. */
  readonly weights: readonly number[];
}

async function rankRecordings(
  pool: Queryable,
  principal: Principal,
  terms: readonly Term[],
  choices: readonly Choice[],
  filter: PassageFilter,
): Promise<RankedRecordings> {
  const searched = terms.map((term, n) => (choices[n]?.isSearched === false ? null : term));
  const values: unknown[] = [
    principal.sees,
    searched.map((term) => (term === null ? null : wantedQuery([term]))),
    searched.map((term) => (term === null ? null : rankedQuery([term]))),
    choices.map(({ weight }) => weight),
  ];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const ofSearch = filterConditions(filter, bind);
  const conditions = [...ofSearch, ...libraryConditions(principal, filter, bind)];
  const { rows } = await pool.query<RankedRecordings>({
    text: `with found as materialized (
        select n.n, f.recording_id, f.start_datetime, f.head_score > 0 as in_head
        from generate_subscripts($2::text[], 1) n
        cross join lateral (
          select f.* from parley_search_find($1::uuid[], ($2::text[])[n]::tsquery, ($3::text[])[n]::tsquery) f
          ${ofSearch.some((condition) => condition.includes("r.")) ? "join recordings r on r.id = f.recording_id" : ""}
          ${conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`}
          limit ${maxCounted}) f
        where ($2::text[])[n] is not null),
      weighed as (
        -- As rarity() does.
        select n, ln(1 + (a.all - count(*) + 0.5) / (count(*) + 0.5))::float8 as weight
        from found, (select least(count(distinct recording_id), ${maxCounted}) as all from found) a group by n, a.all),
      best as (
        select f.recording_id, sum(weight * (1 + in_head::integer)) as score,
          row_number() over (order by sum(weight * (1 + in_head::integer)) desc, f.start_datetime desc) as place
        from found f join weighed using (n)
        group by f.recording_id, f.start_datetime
        order by place limit ${maxRecordings})
    select array(select recording_id from best order by place) as ids,
      array(select score from best order by place) as scores,
      array(
        select coalesce((select weight from weighed where weighed.n = n.n),
          case when ($2::text[])[n.n] is null then ($4::float8[])[n.n] end, 0)
        from generate_subscripts($2::text[], 1) n order by n.n) as weights`,
    values,
  });
  return rows[0] ?? { ids: [], scores: [], weights: [] };
}

/** The filters of the library, as conditions on what was found, `f`. */
function libraryConditions(
  principal: Principal,
  { title_search, participant_scope, attendance, favorite }: PassageFilter,
  bind: (value: unknown) => string,
): string[] {
  const filter = { title_search, participant_scope, attendance, favorite };
  const conditions = grantConditions(
    { principal, filter, datetimeFilters: "by-name", rareTitles: null },
    bind,
  );
  if (conditions.length === 0) return [];
  return [
    `exists (select 1 from recording_grants g
      where g.recording_id = f.recording_id and g.principal_id = any($1::uuid[]) and ${conditions.join(" and ")})`,
  ];
}

interface Piece {
  readonly id: string;
  /** Of its first segment. */
  readonly number: number;
  /** PostgreSQL's name of its recording's language; null without a stemmer. */
  readonly language: string | null;
  readonly recordingScore: number;
}

/** The pieces of the recordings' transcripts that say the most. */
async function rankPieces(
  pool: Queryable,
  terms: readonly Term[],
  { ids, scores, weights }: RankedRecordings,
): Promise<Piece[]> {
  const languages = ["", ...stemmers];
  const queries = languages.flatMap((language) =>
    terms.map((term, n) => ({ language, n, query: spokenQuery([term], language) })),
  );
  const { rows } = await pool.query<Piece>({
    name: "search_rank_pieces",
    text: `select c.recording_id as id, c.number, s.language, i.score as "recordingScore"
      from unnest($1::uuid[], $6::float8[]) i (id, score)
      join search_recordings s on s.recording_id = i.id
      join search_chunks c on c.recording_id = s.recording_id
      cross join lateral (
        select coalesce(sum(($5::float8[])[q.n + 1]), 0) + i.score as score
        from unnest($2::text[], $3::integer[], $4::tsquery[]) q (language, n, query)
        where q.language = coalesce(s.language, '') and c.words @@ q.query) r
      where r.score > 0
      order by r.score desc, s.start_datetime desc, c.recording_id, c.number limit ${maxPieces}`,
    values: [
      ids,
      queries.map(({ language }) => language),
      queries.map(({ n }) => n),
      queries.map(({ query }) => query),
      weights,
      scores,
    ],
  });
  return rows;
}

/** The lines of pieces, by recording and number. */
async function readPieces(pool: Queryable, pieces: readonly Piece[]): Promise<Map<string, PassageLine[]>> {
  const { rows } = await pool.query<PassageLine & { id: string; number: number }>({
    name: "search_read_pieces",
    text: `select c.recording_id as id, c.number, t.position, t.start_ms as start, t.end_ms as end, t.speaker, t.text
      from unnest($1::uuid[], $2::integer[]) p (id, number)
      join search_chunks c on c.recording_id = p.id and c.number = p.number
      join transcript_segments t on t.recording_id = c.recording_id and t.position = any(c.positions)
      order by c.recording_id, c.number, t.position`,
    values: [pieces.map(({ id }) => id), pieces.map(({ number }) => number)],
  });
  return Map.groupBy(rows, ({ id, number }) => `${id} ${number}`);
}
