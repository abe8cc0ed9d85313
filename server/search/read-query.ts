import { maxQueryTerms } from "../../contract/search.ts";
import type { Queryable } from "../platform/db/replica.ts";
import { invalidInput, type ProblemError } from "../platform/http/errors/problem.ts";
import { parseQuery, type TypedTerm } from "./parse-query.ts";
import type { Term } from "./terms.ts";

/** A term as typed, and in the words of the index. */
export type ReadTerm = Term & TypedTerm;

/** A shorter prefix would match too much of the index. */
const minPrefixLength = 2;

/**
 * Validates a query as typed.
 * @returns at least one term that is not excluded.
 * @throws ProblemError `invalid_input` naming what is wrong with it.
 */
export async function readQuery(pool: Queryable, query: string): Promise<ReadTerm[]> {
  if (query.includes("\0")) throw fault("must not contain the character NUL");
  const typed = parseQuery(query);
  if (typed.length > maxQueryTerms)
    throw fault(`has ${typed.length} words and phrases; use at most ${maxQueryTerms}`);
  const found = await findWords(
    pool,
    typed.map((term) => term.text),
  );
  const terms = typed.flatMap((term, n): ReadTerm[] => {
    const { words = [], stems = [] } = found[n] ?? {};
    if (words.length === 0) return [];
    const isExact = term.isPhrase || term.isPrefix || words.length > 1;
    return [{ ...term, words, stems: isExact ? [] : stems }];
  });
  if (terms.every((term) => term.isExcluded))
    throw fault(
      terms.length > 0
        ? "only excludes words; add a word to search for"
        : "contains no word; use letters or digits",
    );
  for (const { words, isPrefix } of terms) {
    const last = words.at(-1) ?? "";
    if (isPrefix && last.length < minPrefixLength && /[\p{L}\p{N}]/u.test(last) && !isWide(last))
      throw fault(
        `has a prefix that is too short, "${last}*"; use at least ${minPrefixLength} letters before the *`,
      );
  }
  return terms;
}

function fault(detail: string): ProblemError {
  return invalidInput([{ pointer: "/q", detail }]);
}

/** Whether a word is a single character of a script without spaces (parley_search_clean). */
function isWide(word: string): boolean {
  return /^[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3134f}]+$/u.test(
    word,
  );
}

interface WordsRow {
  readonly words: string[];
  /** In every language that a recording has; null where a language drops the word. */
  readonly stems: (string | null)[];
}

/** The words of texts in the form of the index, in order, and the stems of texts that are a single word. */
async function findWords(
  pool: Queryable,
  texts: readonly string[],
): Promise<{ words: string[]; stems: string[] }[]> {
  const { rows } = await pool.query<WordsRow>({
    name: "search_words",
    // Stems of more languages make the search slower, so only those in use are read, by one index lookup each. With unnest()
    // PostgreSQL would plan the statement again for each search.
    text: `with recursive used (language) as (
        select (select min(s.language) from search_recordings s)
        union all
        select (select min(s.language) from search_recordings s where s.language > u.language)
        from used u where u.language is not null)
      select v.words, array(
        select parley_search_stem(u.language, v.words[1]) from used u
        where u.language is not null and cardinality(v.words) = 1) as stems
      from generate_subscripts($1::text[], 1) n
      cross join lateral (select array(
        select l.lexeme from unnest(parley_search_vector(parley_search_clean(($1::text[])[n]))) l, unnest(l.positions) p
        order by p) as words) v
      order by n`,
    values: [texts],
  });
  return rows.map((row) => ({ words: row.words, stems: row.stems.filter((stem) => stem !== null) }));
}
