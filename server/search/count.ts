import type { Principal } from "../platform/auth/principal.ts";
import type { Queryable } from "../platform/db/replica.ts";
import { filterConditions, phraseConditions, type SearchFilter } from "./find.ts";
import { type Term, wantedQuery } from "./terms.ts";

/** How many recordings match, of the candidates that are counted. */
export interface Count {
  readonly value: number;
  /** Whether all candidates were counted. */
  readonly is_exact: boolean;
}

/** Candidates counted at most where each one's transcript must be read, because the query has a phrase. */
const maxPhraseCandidates = 200;

/** The condition that finds a search, on rows `f` of search_recordings; one index has both. */
const isFound = (viewers: string, query: string) =>
  `f.principals && ${viewers}::uuid[] and f.words @@ ${query}::tsquery`;

/**
 * Has the rest of a transaction count by the index: the planner doesn't know how large `words` is, and would prefer reading
 * the whole table. Unlike the function parley_search_find, a plain statement can stop at its limit.
 */
export async function useSearchIndex(source: Queryable): Promise<void> {
  await source.query("set local enable_seqscan = off");
}

/**
 * Counts the matching recordings that the principal can see.
 * @param source a transaction after `useSearchIndex`.
 * @param max counted at most.
 */
export async function countFound(
  source: Queryable,
  principal: Pick<Principal, "sees">,
  terms: readonly Term[],
  filter: SearchFilter,
  max: number,
): Promise<Count> {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    isFound(bind(principal.sees), bind(wantedQuery(terms))),
    ...filterConditions(filter, bind),
  ];
  const needsRecording = conditions.some((condition) => condition.includes("r."));
  const meant = phraseConditions(terms, bind);
  const limit = meant.length === 0 ? max : Math.min(max, maxPhraseCandidates);
  const { rows } = await source.query<{ candidates: number; matching: number }>({
    text: `with found as materialized (
        select f.recording_id from search_recordings f
        ${needsRecording ? "join recordings r on r.id = f.recording_id" : ""}
        where ${conditions.join(" and ")} limit ${limit + 1})
      select (select count(*) from found)::integer as candidates,
        ${meant.length === 0 ? "(select count(*) from found)" : `(select count(*) from found join search_recordings s using (recording_id) where ${meant.join(" and ")})`}::integer as matching`,
    values,
  });
  const { candidates, matching } = rows[0] ?? { candidates: 0, matching: 0 };
  return { value: Math.min(matching, limit), is_exact: candidates <= limit };
}

/**
 * How many visible recordings each query finds, by its position; those that find none are missing.
 * @param source a transaction after `useSearchIndex`.
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
