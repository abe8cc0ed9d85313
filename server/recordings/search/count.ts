import type { Principal } from "../../platform/auth/principal.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { filterConditions, phraseConditions, type SearchFilter } from "./find.ts";
import { type Term, wantedQuery } from "./terms.ts";

/** The condition that finds a search, on rows `f` of search_recordings; one index has both. */
const isFound = (viewers: string, query: string) =>
  `f.principals && ${viewers}::uuid[] and f.words @@ ${query}::tsquery`;

/**
 * For transactions that count by the index: the planner doesn't know how large `words` is, and would prefer reading the
 * whole table. Unlike the function parley_search_find, a plain statement can stop at its limit.
 */
export const searchSettings = { enable_seqscan: "off" } as const;

/** Candidates of which a transcript is read at most to find a phrase. */
const maxPhraseCandidates = 200;

/**
 * Whether a search finds a recording that the principal can see; a phrase, in the first candidates.
 * @param source a transaction with `searchSettings`.
 */
export async function hasResult(
  source: Queryable,
  principal: Pick<Principal, "sees">,
  terms: readonly Term[],
  filter: SearchFilter,
): Promise<boolean> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    isFound(bind(principal.sees), bind(wantedQuery(terms))),
    ...filterConditions(filter, bind),
  ];
  const needsRecording = conditions.some((condition) => condition.includes("r."));
  const phrases = phraseConditions(terms, bind);
  const { rows } = await source.query<{ has_result: boolean }>({
    text: `select exists (
        select 1 from (
          select f.recording_id from search_recordings f
          ${needsRecording ? "join recordings r on r.id = f.recording_id" : ""}
          where ${conditions.join(" and ")} limit ${phrases.length > 0 ? maxPhraseCandidates : 1}) f
        ${phrases.length > 0 ? `join search_recordings s on s.recording_id = f.recording_id where ${phrases.join(" and ")}` : ""}
      ) as has_result`,
    values,
  });
  return rows[0]?.has_result === true;
}

/**
 * How many visible recordings each query finds, by its position; those that find none are missing.
 * @param source a transaction with `searchSettings`.
 * @param max counted at most.
 */
export async function countEach(
  source: Queryable,
  principal: Pick<Principal, "sees">,
  queries: readonly string[],
  max: number,
): Promise<Map<number, number>> {
  const { rows } = await source.query<{ n: number; count: number }>({
    text: `select q.n::integer - 1 as n, c.count::integer
      from unnest($2::tsquery[]) with ordinality q (query, n)
      cross join lateral (select count(*) from (
        select 1 from search_recordings f where ${isFound("$1", "q.query")} limit $3) found) c
      where c.count > 0`,
    values: [principal.sees, queries, max],
  });
  return new Map(rows.map(({ n, count }) => [n, count]));
}
