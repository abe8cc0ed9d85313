import { maxQueryTerms } from "../../../contract/recordings/search.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { invalidInput, type ProblemError } from "../../platform/http/errors/problem.ts";
import { apostrophes, wide } from "./characters.ts";
import { compoundBeginning, compoundParts, prefixedForms } from "./forms.ts";
import { parseQuery, type TypedTerm } from "./parse-query.ts";
import type { Term } from "./terms.ts";

/** A term as typed, and in the words of the index. */
export type ReadTerm = Term &
  TypedTerm & {
    /** Languages, by PostgreSQL's names, in which the word is too common to say anything, such as "the". */
    readonly commonIn: readonly string[];
  };

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
    typed.map(({ text, isPhrase }) => (isPhrase ? text : joinWord(text))),
  );
  const terms = typed.flatMap((term, n): ReadTerm[] => {
    const { words = [], stems = [], tails = [], commonIn = [] } = found[n] ?? {};
    if (words.length === 0) return [];
    const isExact = term.isPhrase || term.isPrefix || words.length > 1;
    if (isExact) return [{ ...term, words, stems: [], variants: [], parts: [], commonIn: [] }];
    const [word = ""] = words;
    const parts = term.isExcluded ? [] : compoundParts(word, stems, tails);
    return [{ ...term, words, stems, variants: prefixedForms(word), parts, commonIn }];
  });
  if (terms.every((term) => term.isExcluded))
    throw fault(
      terms.length > 0
        ? "only excludes words; add a word to search for"
        : "contains no word; use letters, digits or emoji",
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

// Linear: one character between two. Hebrew abbreviations have quotes before their last letter.
const innerApostrophe = new RegExp(
  `(?<=[\\p{L}\\p{N}\\p{M}])[${apostrophes}](?=[\\p{L}\\p{N}])|(?<=[\\u05d0-\\u05ea])["״”](?=[\\u05d0-\\u05ea])`,
  "gu",
);

/** A word in the one form in which the index has it with and without apostrophes (parley_search_clean). */
function joinWord(text: string): string {
  return text.replace(innerApostrophe, "");
}

// Linear: characters of one class.
const onlyWide = new RegExp(`^[${wide}]+$`, "u");

/** Whether a word is a single character of a script of which any part is found (parley_search_clean). */
function isWide(word: string): boolean {
  return onlyWide.test(word);
}

interface WordsRow {
  readonly words: string[];
  /** In every language that a recording has and that doesn't drop the word. */
  readonly stems: string[];
  /** The languages that drop it. */
  readonly commonIn: string[];
  /** Reversed stems of the word at the end of a compound; null in languages without compounds. */
  readonly tails: (string | null)[];
}

/** The words of texts in the form of the index, in order, and the stems of texts that are a single word. */
async function findWords(
  pool: Queryable,
  texts: readonly string[],
): Promise<(Omit<WordsRow, "tails"> & { tails: string[] })[]> {
  const { rows } = await pool.query<WordsRow>({
    name: "search_words",
    // Stems of more languages make the search slower, so only those in use are read, by one index lookup each. With unnest()
    // PostgreSQL would plan the statement again for each search.
    text: `with recursive used (language) as (
        select (select min(s.language) from search_recordings s)
        union all
        select (select min(s.language) from search_recordings s where s.language > u.language)
        from used u where u.language is not null)
      select v.words, s.stems, s."commonIn", array(
        select parley_search_tail(u.language, parley_search_stem(u.language, '${compoundBeginning}' || v.words[1]))
        from used u where u.language is not null and cardinality(v.words) = 1) as tails
      from generate_subscripts($1::text[], 1) n
      cross join lateral (select array(
        select l.lexeme from unnest(parley_search_vector(parley_search_clean(($1::text[])[n]))) l, unnest(l.positions) p
        order by p) as words) v
      cross join lateral (
        select coalesce(array_agg(s.stem) filter (where s.stem is not null), '{}') as stems,
          coalesce(array_agg(u.language) filter (where s.stem is null), '{}') as "commonIn"
        from used u cross join lateral (select parley_search_stem(u.language, v.words[1]) as stem offset 0) s
        where u.language is not null and cardinality(v.words) = 1) s
      order by n`,
    values: [texts],
  });
  return rows.map((row) => ({ ...row, tails: row.tails.filter((tail) => tail !== null) }));
}
