import assert from "node:assert/strict";
import { test } from "node:test";
import { parseQuery } from "./parse-query.ts";
import { phraseQueries, rankedQuery, spokenQuery, type Term, wantedQuery } from "./terms.ts";

const short = (query: string) =>
  parseQuery(query).map(
    ({ text, isPhrase, isPrefix, isExcluded }) =>
      `${isExcluded ? "-" : ""}${isPhrase ? `"${text}"` : text}${isPrefix ? "*" : ""}`,
  );

test("a query is taken apart into words, phrases, beginnings and what is excluded; nothing typed is an error", () => {
  for (const [query, expected] of [
    ["budget", ["budget"]],
    ["  two   words ", ["two", "words"]],
    ['"a phrase" -not -"not this" begin*', ['"a phrase"', "-not", '-"not this"', "begin*"]],
    ["“curly quotes” „deutsche“ «français»", ['"curly quotes"', '"deutsche"', '"français"']],
    ['"never closed', ['"never closed"']],
    ['word"phrase"word', ["word", '"phrase"', "word"]],
    ["well-known -x", ["well-known", "-x"]],
    ["stars***", ["stars*"]],
    ["*", []],
    ["-", ["-"]],
    ['"" " "', []],
    ["", []],
  ] as const)
    assert.deepEqual(short(query), expected, query);
});

const term = (words: string[], values: Partial<Term> = {}): Term => ({
  words,
  isPrefix: false,
  isExcluded: false,
  stems: [],
  variants: [],
  parts: [],
  ...values,
});

test("operators and quotes within a word are escaped in queries of the index", () => {
  const evil = term(["a' | 'b", "c\\"], {});
  for (const query of [wantedQuery([evil]), rankedQuery([evil]), spokenQuery([evil], "english")])
    assert.match(query, /^\(*'a'' \| ''b' (&|<->) 'c\\\\'/);
});

test("a query of the index has words with their stems, phrases, exclusions, and phrases across two segments", () => {
  const terms = [
    term(["notes"], { stems: ["=english=note", "=french=not"] }),
    term(["in", "the"]),
    term(["bud"], { isPrefix: true }),
    term(["draft"], { isExcluded: true, stems: ["=english=draft"] }),
    term(["old", "draft"], { isExcluded: true }),
  ];
  assert.equal(
    wantedQuery(terms),
    "('notes' | '=english=note' | '=french=not') & ('in' & 'the') & ('bud':*) & !('draft' | '=english=draft')",
  );
  assert.equal(
    spokenQuery(terms, "english"),
    "('notes' | 'not':*) | (('in' <-> 'the') | ('in' <-> '/s/s' <-> 'the')) | ('bud':*)",
  );
  assert.deepEqual(
    phraseQueries(terms).map((phrase) => phrase.isExcluded),
    [false, true],
  );
});
