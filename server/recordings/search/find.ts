import { parseTimestamp } from "../../../shared/times/timestamp.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import type { Place, SearchCursor } from "./cursor.ts";
import { stemmers } from "./languages.ts";
import { phraseQueries, rankedQuery, selectorsOf, spokenQuery, type Term, wantedQuery } from "./terms.ts";

type SearchSort = "relevance" | "newest" | "oldest";

/** The filters and the order of a search. */
export interface SearchFilter {
  /** Without it, by relevance. */
  readonly sort?: SearchSort | undefined;
  readonly recording_id?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly person?: string | undefined;
  readonly team?: string | undefined;
  readonly meeting_type?: string | undefined;
  readonly tag?: string | undefined;
  readonly media_type?: string | undefined;
}

/**
 * How the found recordings are ordered, in SQL. By time, all scores are 0, and what was found in the transcripts only
 * provides the moments.
 */
const orders = {
  relevance: { score: "f.head_score", direction: "desc", after: "<", until: ">=" },
  newest: { score: "0", direction: "desc", after: "<", until: ">=" },
  oldest: { score: "0", direction: "asc", after: ">", until: "<=" },
} as const;

/** Results ranked by their transcripts at a time; reading all transcripts would take too long. */
const stretch = 40;

/** How many stretches one request goes through at most, where phrases leave little of them. */
const maxStretches = 20;

/** A recording that was found. */
export interface Found extends Place {
  /** Numbers of the transcript pieces with the most hits; null: it has only ends of compounds, which pieces don't show. */
  readonly pieces: readonly number[] | null;
  /** Whether the first of these probably has as many hits as are shown. */
  readonly isDense: boolean;
}

/** The rank of a piece that has a single word three times. */
const denseRank = 0.08;

/** Most pieces of a transcript that are read to find its best moments. */
const bestPieces = 2;

/** How many recordings match; without `is_exact` there may be more. */
export interface Count {
  readonly value: number;
  readonly is_exact: boolean;
}

/** A page of what was found. */
interface FoundPage {
  readonly recordings: Found[];
  /** How many recordings match in all; meaningless on later pages. */
  readonly count: Count;
  readonly next: SearchCursor | null;
}

/**
 * A page of the matching recordings that the principal can see, best first.
 *
 * What was found is ordered by title, tags, participants and highlights, then newest first; this order is cut into
 * stretches, and each of them is ordered by its transcripts as well. What is in forty recordings at most is
 * so ordered as a whole, and a word that is everywhere costs no more than that.
 */
export async function findPage(
  pool: Queryable,
  principal: Pick<Principal, "sees">,
  terms: readonly Term[],
  filter: SearchFilter,
  page: { readonly cursor: SearchCursor | null; readonly limit: number },
): Promise<FoundPage> {
  const recordings: Found[] = [];
  // Phrases are checked only in what is read.
  let matching = 0;
  let total: number | null = null;
  const compare = comparisonOf(filter);
  const count = (isAll: boolean): Count => ({ value: total ?? matching, is_exact: total !== null || isAll });
  let { from, to, shown }: SearchCursor = page.cursor ?? { from: null, to: null, shown: null };
  for (let n = 0; n < maxStretches; n += 1) {
    const found = await findStretch(pool, principal, terms, filter, { from, to });
    if (from === null && to === null) total = found.total;
    matching += found.recordings.length;
    // Ranks a block by its transcripts; a block keeps the end that an earlier page gave it.
    to ??= found.end;
    const left = found.recordings.filter((place) => shown === null || compare(place, shown) > 0);
    const taken = left.slice(0, page.limit - recordings.length);
    recordings.push(...taken);
    const last = toPlace(taken.at(-1)) ?? shown;
    if (taken.length < left.length)
      return { recordings, count: count(to === null), next: { from, to, shown: last } };
    if (to === null) return { recordings, count: count(true), next: null };
    [from, to, shown] = [to, null, null];
    if (recordings.length === page.limit)
      return { recordings, count: count(false), next: { from, to, shown } };
  }
  return { recordings, count: count(false), next: { from, to, shown } };
}

function toPlace(found: Found | undefined): Place | undefined {
  return found && { score: found.score, at: found.at, id: found.id };
}

/** A comparison in the order of a search: negative when a comes before b. */
function comparisonOf({ sort }: SearchFilter): (a: Place, b: Place) => number {
  const sign = sort === "oldest" ? -1 : 1;
  return (a, b) => sign * (b.score - a.score || b.at - a.at || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0));
}

interface FoundRow {
  readonly id: string;
  readonly at: Date;
  readonly head_score: number;
  /** 0 to 200,000, always less than the score of one word in a highlight. */
  readonly spoken_score: number;
  readonly is_meant: boolean;
  readonly pieces: number[];
  readonly language: string | null;
  readonly best_rank: number;
  readonly total: number | null;
}

/** @returns a stretch in order, and where it ends; null when it is the last one. */
async function findStretch(
  pool: Queryable,
  principal: Pick<Principal, "sees">,
  terms: readonly Term[],
  filter: SearchFilter,
  { from, to }: Pick<SearchCursor, "from" | "to">,
): Promise<{ recordings: Found[]; end: Place | null; total: number | null }> {
  const { rows } = await pool.query<FoundRow>(stretchStatement(principal, terms, filter, from, to));
  const isFull = to === null && rows.length > stretch;
  const inside = isFull ? rows.slice(0, stretch) : rows;
  const last = inside.at(-1);
  const isRanked = (filter.sort ?? "relevance") === "relevance";
  const meant = inside.filter((row) => row.is_meant);
  const compounding = new Set(selectorsOf(terms).inner.map(({ language }) => language));
  return {
    recordings: meant
      .map(({ id, at, head_score, spoken_score, pieces, language, best_rank }) => ({
        id,
        at: at.getTime(),
        score: isRanked ? head_score + spoken_score : 0,
        pieces: pieces.length === 0 && language !== null && compounding.has(language) ? null : pieces,
        isDense: best_rank >= denseRank,
      }))
      .sort(comparisonOf(filter)),
    // No row is no recording; without a phrase that is certain.
    total: rows[0] === undefined ? 0 : rows[0].total,
    end: isFull && last ? { score: last.head_score, at: last.at.getTime(), id: last.id } : null,
  };
}

/** The SQL of a search. */
function stretchStatement(
  principal: Pick<Principal, "sees">,
  terms: readonly Term[],
  filter: SearchFilter,
  from: Place | null,
  to: Place | null,
): { name?: string; text: string; values: unknown[] } {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { conditions, source } = foundBy(principal, terms, filter, bind);
  const { score, direction, after, until } = orders[filter.sort ?? "relevance"];
  const order = `(${score}, f.start_datetime, f.recording_id)`;
  const place = (at: Place) =>
    `(${bind(at.score)}::integer, ${bind(new Date(at.at))}::timestamptz, ${bind(at.id)}::uuid)`;
  if (from !== null) conditions.push(`${order} ${after} ${place(from)}`);
  if (to !== null) conditions.push(`${order} ${until} ${place(to)}`);
  // One query per language, and one for recordings without a language.
  const languages = ["", ...stemmers];
  const spoken = languages.map((language) => spokenQuery(terms, language));
  // What one phrase alone finds in the transcript are its pieces.
  const [only, ...others] = terms;
  const isPhrase = only !== undefined && others.length === 0 && only.words.length > 1;
  const meant = isPhrase
    ? [`(s.head @@ ${bind(rankedQuery(terms))}::tsquery or cardinality(spoken.pieces) > 0)`]
    : phraseConditions(terms, bind);
  // For single words the rank decides alone, which saves reading each piece again; phrases need their positions.
  const hasPhrase = terms.some((term) => term.words.length > 1);
  const text = `with found as materialized (
      select f.recording_id, f.start_datetime, ${score} as head_score, count(*) over () as total
      from ${source}
      ${conditions.length > 0 ? `where ${conditions.join(" and ")}` : ""}
      order by head_score desc, f.start_datetime ${direction}, f.recording_id ${direction}
      ${to === null ? `limit ${stretch + 1}` : ""})
    select f.recording_id as id, f.start_datetime as at, f.head_score,
      (200000 * spoken.rank / (1 + spoken.rank))::integer as spoken_score,
      ${meant.length > 0 ? meant.join(" and ") : "true"} as is_meant, spoken.pieces, spoken.best_rank, s.language,
      ${meant.length > 0 ? "null" : "f.total::integer"} as total
    from found f
    join search_recordings s on s.recording_id = f.recording_id
    join unnest(${bind(languages)}::text[], ${bind(spoken)}::tsquery[]) q (language, query)
      on q.language = coalesce(s.language, '')
    cross join lateral (
      select coalesce(sum(k.rank), 0) / (1 + ln(greatest(count(*), 1))) as rank,
        coalesce(max(k.rank), 0)::float8 as best_rank,
        coalesce((array_agg(k.number order by k.rank desc, k.number))[1:${bestPieces}], '{}') as pieces
      from (
        select c.number, ts_rank(c.words, q.query) as rank from search_chunks c
        where c.recording_id = s.recording_id ${hasPhrase ? "and c.words @@ q.query" : ""} offset 0) k
      where k.rank > 0) spoken
    order by f.head_score desc, f.start_datetime ${direction}, f.recording_id ${direction}`;
  // Without filters and with one phrase at most there are few different texts, each worth a prepared statement.
  const [phrase, ...morePhrases] = phraseQueries(terms);
  if (conditions.length > 0 || morePhrases.length > 0 || phrase?.isExcluded) return { text, values };
  const kind = phrase === undefined ? "" : isPhrase ? "_phrase_alone" : "_phrase";
  return { name: `search_${filter.sort ?? "relevance"}${kind}`, text, values };
}

/** The candidates of a search in SQL: a source `f`, and the conditions on it. */
function foundBy(
  principal: Pick<Principal, "sees">,
  terms: readonly Term[],
  filter: SearchFilter,
  bind: (value: unknown) => string,
) {
  const find = `parley_search_find(${bind(principal.sees)}::uuid[], ${bind(wantedQuery(terms))}::tsquery, ${bind(rankedQuery(terms))}::tsquery)`;
  const conditions = filterConditions(filter, bind);
  const needsRecording = conditions.some((condition) => condition.includes("r."));
  return {
    conditions,
    source: `${find} f ${needsRecording ? "join recordings r on r.id = f.recording_id" : ""}`,
  };
}

/** SQL conditions on `search_recordings s`: it has the phrases, and none of the excluded ones. */
export function phraseConditions(terms: readonly Term[], bind: (value: unknown) => string): string[] {
  return phraseQueries(terms).map(({ query, isExcluded }) => {
    const bound = `${bind(query)}::tsquery`;
    return `${isExcluded ? "not " : ""}(s.head @@ ${bound} or exists (
      select 1 from search_chunks c where c.recording_id = s.recording_id and c.words @@ ${bound}))`;
  });
}

/** SQL conditions on what was found, `f`, and on its recording, `r`. */
export function filterConditions(filter: SearchFilter, bind: (value: unknown) => string): string[] {
  const conditions: string[] = [];
  if (filter.recording_id !== undefined)
    conditions.push(`f.recording_id = ${bind(filter.recording_id)}::uuid`);
  if (filter.from !== undefined)
    conditions.push(`f.start_datetime >= ${bind(parseTimestamp(filter.from))}::timestamptz`);
  if (filter.to !== undefined)
    conditions.push(`f.start_datetime < ${bind(parseTimestamp(filter.to))}::timestamptz`);
  if (filter.meeting_type !== undefined)
    conditions.push(`r.meeting_type_id = ${bind(filter.meeting_type)}::uuid`);
  if (filter.media_type !== undefined) conditions.push(`r.media_type = ${bind(filter.media_type)}`);
  if (filter.tag !== undefined)
    conditions.push(
      `exists (select 1 from unnest(r.tags) tag where parley_lower(tag) = parley_lower(normalize(${bind(filter.tag)}, NFC)))`,
    );
  if (filter.team !== undefined)
    conditions.push(
      `exists (select 1 from recording_teams rt where rt.recording_id = f.recording_id and rt.team_id = ${bind(filter.team)}::uuid)`,
    );
  if (filter.person !== undefined) conditions.push(personCondition(bind(filter.person.trim())));
  return conditions;
}

/** A participant or recorder, by email, full name or user id. */
function personCondition(person: string): string {
  return `(exists (
      select 1 from participants p left join users u on u.workspace_id = p.workspace_id and u.email_key = p.email_key
      where p.recording_id = f.recording_id
        and (p.email_key = parley_lower(${person}) or parley_fold(p.name) = parley_fold(${person}) or u.id::text = lower(${person})))
    or exists (
      select 1 from recording_recorders rr join users u on u.id = rr.user_id
      where rr.recording_id = f.recording_id
        and (u.email_key = parley_lower(${person}) or parley_fold(u.name) = parley_fold(${person}) or u.id::text = lower(${person}))))`;
}
