import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readSources, root } from "./sources.ts";

const contract = readFileSync(join(root, "docs/contract.md"), "utf8");
const design = readFileSync(join(root, "docs/design.md"), "utf8");
/** External specifications by the name under which comments cite them: the last table of the design. */
const specifications = [...design.matchAll(/^\| ([^|]+) \| <http/gm)].map(([, name = ""]) => name);
const decisions = new Set(readdirSync(join(root, "docs/decisions")).map((name) => Number(name.slice(0, 4))));

/** Comment markers and line breaks are replaced by spaces, so that a reference may go over two lines. */
function flatten(text: string): string {
  return text.replace(/\n[ \t]*(?:\*(?!\/)|\/\/|--)?[ \t]*/g, " ");
}

/** Whether a heading, a table row or a paragraph of the document begins with this name. */
function hasSection(document: string, name: string): boolean {
  return document.split("\n").some((line) => line.replace(/^[#|\-*>\d.\s`]+/, "").startsWith(name));
}

/**
 * Resolves what follows a document's name, such as `, section 4, "Hook targets"` or `, Errors, 7`.
 * @returns what can't be found, or undefined.
 */
function findMissing(document: string, rest: string): string | undefined {
  const numbered = /^, section (\d+)/.exec(rest);
  if (numbered !== null && !document.includes(`\n## ${numbered[1]}. `)) return `section ${numbered[1]}`;
  const name = /^(?:, section \d+)?, (?:"([^"]+)"|([A-Z][^.,:;)*]*))/.exec(rest);
  const wanted = (name?.[1] ?? name?.[2])?.trim();
  if (wanted === undefined) return numbered === null ? "a section" : undefined;
  return hasSection(document, wanted) ? undefined : wanted;
}

/** What is wrong with a citation after `Source: `, or undefined. */
function findProblem(citation: string): string | undefined {
  const document = /^(?:docs\/)?(contract|design)(?:\.md)?(?=[,.])/.exec(citation);
  if (document !== null) {
    const missing = findMissing(
      document[1] === "contract" ? contract : design,
      citation.slice(document[0].length),
    );
    return missing === undefined ? undefined : `docs/${document[1]}.md has no "${missing}"`;
  }
  if (/^(?:https?:\/\/|RFC \d)/.test(citation) || specifications.some((name) => citation.startsWith(name)))
    return;
  const decision = /^(?:docs\/decisions\/|decision )(\d+)/.exec(citation);
  if (decision !== null)
    return decisions.has(Number(decision[1])) ? undefined : `there is no decision ${decision[1]}`;
  const path = /^[\w./-]+\.\w+(?=[\s,.;]|$)/.exec(citation)?.[0].replace(/\.$/, "");
  if (path !== undefined && existsSync(join(root, path))) return;
  return "not the contract, the design, a decision, an RFC, a file, a URL or a specification of docs/design.md, section 7";
}

function problemsOf(path: string, source: string): string[] {
  const text = flatten(source);
  const cited = [...text.matchAll(/\bSource: (?=([^\n]{1,160}))/g)]
    // `CopySource:` and object keys are code, not citations.
    .filter(({ index }) => /[.(*/\s]\s$/.test(text.slice(Math.max(0, index - 2), index)))
    .map(([, citation = ""]) => [citation, findProblem(citation)] as const);
  const mentioned = [
    ...text.matchAll(/\b[Dd]esign(?:, section \d+)?, "[^"]+"|\b[Dd]esign, section \d+/g),
  ].map(([mention]) => {
    const missing = findMissing(design, mention.slice("design".length));
    return [mention, missing === undefined ? undefined : `docs/design.md has no "${missing}"`] as const;
  });
  const decided = [...text.matchAll(/\bdecision 0*(\d+)\b/gi)].map(
    ([mention, number]) =>
      [mention, decisions.has(Number(number)) ? undefined : "there is no such decision"] as const,
  );
  return [...cited, ...mentioned, ...decided].flatMap(([citation, problem]) =>
    problem === undefined ? [] : [`${path}: "${citation.slice(0, 60)}": ${problem}`],
  );
}

test("sources: every document, decision and specification that a comment cites exists", () => {
  const sources = readSources([".ts", ".tsx", ".cjs", ".sql", ".sh"]).filter(
    ({ path }) => path !== "test/shape/citations.test.ts",
  );
  assert.deepEqual(
    sources.flatMap(({ path, text }) => problemsOf(path, text)),
    [],
  );
});

test("sources: a wrong section, decision or specification is found", () => {
  const isWrong = (comment: string) => problemsOf("a.ts", comment).length > 0;
  for (const comment of [
    '/** A. Source: contract.md, "No such section". */',
    "/** B. Source: design, section 99. */",
    "/** C. Source: somebody's page. */",
    "// D, see decision 999.",
    '// E (design, "No such row").',
  ])
    assert.ok(isWrong(comment), comment);
  for (const comment of [
    '/** A. Source: contract.md, "Media requirements" and "Upload Recording". */',
    "/** B. Source: contract.md,\n * Recording Filter; setting PARLEY_DATETIME_FILTERS. */",
    '// C (design, section 4, "Hook targets"), decision 0009.',
    "/** D. Source: RFC 9110, section 15.5.6. */",
    "/** E. Source: contract/versions.ts. */",
  ])
    assert.ok(!isWrong(comment), comment);
});
