import { globSync, readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseSync } from "vite";

/** A word or phrase that docs/writing.md refuses, and what to write in its place. */
interface Rule {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Refused in docs, comments and strings, in upper and lower case. */
export const phrases: readonly Rule[] = [
  { pattern: /(?<!["-])\banswer(?:s|ed|ing)?\b(?!")/, instead: "response, return" },
  {
    pattern:
      /\b(?:web|https?|web ?hook|hook|page|picture|image|link|upload|file|server)(?:'s)? address(?:es)?\b/,
    instead: "URL, IP address",
  },
  { pattern: /\banew\b/, instead: "again, re-…" },
  { pattern: /\bwhoever\b|\bwho may what\b/, instead: "the user who…, permissions" },
  { pattern: /\b(?:go|goes|went) on\b/, instead: "continue, resume" },
  { pattern: /\blet(?:s|ting)? in\b/, instead: "authorize, allow" },
  { pattern: /\b(?:am|is|are|was|were|be|been|being) told\b/, instead: "is notified, receives, reports" },
  { pattern: /\bg(?:ive|ives|iven|ave|iving) up\b/, instead: "abandon, fail, stop, cancel" },
  { pattern: /\bt(?:ake|akes|aken|ook|aking) back\b/, instead: "revoke (access), undo (an edit)" },
  { pattern: /\bfor ever\b/, instead: "permanently, indefinitely" },
  { pattern: /\btakes? out\b|\bputs in\b/, instead: "remove, insert" },
  { pattern: /\blook(?:s|ed|ing)? after\b/, instead: "manage" },
  { pattern: /\blooks for\b|\blooked for\b/, instead: "check for, search for" },
  { pattern: /\bunder way\b/, instead: "in flight, in progress" },
  { pattern: /\bbelongs? to nothing\b/, instead: "orphaned" },
  { pattern: /\bdoors?\b/, instead: "route, endpoint" },
  { pattern: /\blanes?\b/, instead: "speaker timeline" },
  { pattern: /\bgather(?:s|ed|ing)?\b/, instead: "coalesce, collect" },
  { pattern: /\bsettlements?\b|\bverdicts?\b/, instead: "result, DeliveryResult, HookHealth" },
  { pattern: /\bjudg(?:e|es|ed|ing|ements?|ments?)\b/, instead: "validate, decide, ValidationResult" },
  { pattern: /\bforesee(?:s|n|ing)?\b/, instead: "preview" },
  { pattern: /(?<![`"])\bwithheld\b(?![`"])/, instead: "suppressed" },
  { pattern: /\bunpack(?:s|ed|ing)?\b/, instead: "explode (a batch), extract" },
  { pattern: /\bfaults?\b/, instead: "error, violation, problem" },
  { pattern: /\bglimpses?\b/, instead: "probe" },
  {
    pattern: /\bforget(?:s|ting)? (?:a |the )?(?:person|people|somebody|someone|participant)\b/,
    instead: "erase personal data",
  },
  {
    pattern: /(?<!personal[- ]data |[/_])\berasures?\b/,
    instead: "erase personal data, personal-data erasure",
  },
];

/** Refused as names in code, spelled exactly so. */
export const names: readonly Rule[] = [
  { pattern: /\bisFreer\b/, instead: "isLessRestrictive" },
  { pattern: /\bisGood\b|\bfindGood[A-Z]?\w*\b/, instead: "isActive, findActive" },
  {
    pattern: /\bTeller\b|\bTold\b|\bmayHear\w*\b/,
    instead: "HookContext, DeliverySubject, canReceive",
  },
  { pattern: /\bunpack(?:Around)?\b/, instead: "explodeBatch, explodeBatchesAround" },
  { pattern: /\bLooked\b/, instead: "PartialBody" },
  {
    pattern: /\beachAlone\b|\bmakeHeard\b|\bletGo\b/,
    instead: "forEachIsolated, drainBeforeRefusal, detachBody",
  },
  { pattern: /\btendLingering\b|\btendClips\b/, instead: "retryStuckUploads, reconcileClips" },
  { pattern: /\bkeepToHttp\b|\bcreateTurns\b/, instead: "enforceProtocol, bodyMutex" },
  { pattern: /\bSealer\b/, instead: "Encryptor" },
  { pattern: /\b(?:most|least|longest)[A-Z]\w*|\batOnce\b/, instead: "max…, min…, concurrency" },
  { pattern: /\bpatienceMs\b|\brestlessMs\b|\bglanceBytes\b/, instead: "timeoutMs, idleMs, probeBytes" },
  { pattern: /\bbringIn\b|\bworkAlong\b/, instead: "importMeeting, runLocalWorker" },
];

/** Where a refused word may stay, and why. */
const allowed: readonly { readonly path: RegExp; readonly word?: RegExp; readonly reason: string }[] = [
  { path: /^docs\/writing\.md$/, reason: "the glossary itself" },
  { path: /^docs\/contract\.md$/, reason: "the contract keeps its own words" },
  { path: /^scripts\/check-words\.ts$/, reason: "the list itself" },
  { path: /^test\/shape\/words\.test\.ts$/, reason: "examples of refused words" },
  {
    path: /^(?:contract|migrations|server\/(?:connections\/webhooks|people\/events))\//,
    word: /^withheld$/,
    reason: "the API's name of a delivery's state",
  },
  { path: /^demo\/content\//, reason: "what people say in the sample meetings" },
  {
    path: /^server\/processing\/transcription\/merge\/merge\.test\.ts$/,
    reason: "what people say in test transcripts",
  },
  {
    path: /^server\/processing\/(?:intelligence\/generate|media\/validate)\//,
    word: /^answers?$|^answered$/i,
    reason: "what people say in meetings, and the parts of a question-answer section",
  },
  {
    path: /^(?:ARCHITECTURE\.md|contract\/(?:ask\/|causes\/requests|sentences)|docs\/guide\/(?:ask|assistants)\.md|migrations\/006[24]|server\/(?:connections\/mcp|processing\/(?:ask|feedback))\/|test\/browser\/ask\.test|web\/(?:ask\/|causes\/(?:requests|sentences)|api\/ask|common\/forms\/feedback|settings\/workspace\/(?:feedback|template-form)))/,
    word: /^answer(?:s|ed|ing)?$/i,
    reason: "the answer to a user's question",
  },
  {
    path: /^server\/connections\/webhooks\/api\/service\.ts$/,
    word: /^answers$/,
    reason: "quotes the contract",
  },
  {
    path: /^server\/connections\/webhooks\/transport\/targets\.test\.ts$/,
    word: /^answer$/,
    reason: "a variable in a script that the test runs",
  },
  {
    path: /^(?:contract\/|migrations\/|docs\/permissions\.md|server\/(?:governance\/retention|platform\/jobs)\/)/,
    word: /^erasures?$/i,
    reason: "the API's resource /erasures",
  },
  {
    path: /^(?:docs\/operations\/tables\.md|server\/(?:connections\/deliveries\/files|growth\.test|people\/accounts\/one-time-links\/mailer)\.ts)/,
    word: /^erasures$/,
    reason: "the name of its table",
  },
  {
    path: /^docs\/decisions\/README\.md/,
    word: /^(?:erasure|lanes)$/,
    reason: "names of files",
  },
];

/**
 * What `test/shape` keeps free of refused words: files and folders. A path joins the list when
 * `node_modules/node/bin/node scripts/check-words.ts PATH` finds nothing in it.
 */
export const enforced: readonly string[] = [
  ".github",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "README.md",
  "SECURITY.md",
  "bench",
  "cli",
  "contract",
  "shared",
  "demo",
  "docs",
  "migrations",
  "scripts",
  "server",
  "test",
  "web",
];

export interface WordHit {
  readonly path: string;
  readonly line: number;
  readonly word: string;
  readonly instead: string;
  readonly text: string;
}

// Linear: each alternative is checked by scripts/check-patterns.ts on its own.
const anyPhrase = new RegExp(phrases.map(({ pattern }) => pattern.source).join("|"), "i");
// Linear: each alternative is checked by scripts/check-patterns.ts on its own.
const anyName = new RegExp(names.map(({ pattern }) => pattern.source).join("|"));

/** A string with a space or a capital is read by people; the others are keys, paths and class names. */
function isProse(text: string): boolean {
  return /\s/.test(text) || /^\p{Lu}/u.test(text);
}

/** Start and end of each comment, string and JSX text in a TypeScript source. */
function proseRanges(path: string, text: string): [start: number, end: number][] {
  const { program, comments } = parseSync(path, text);
  const ranges = comments.map(({ start, end }): [number, number] => [start, end]);
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const child of node) visit(child);
      return;
    }
    if (typeof node !== "object" || node === null) return;
    const { type, start, end, value } = node as {
      readonly type?: string;
      readonly start: number;
      readonly end: number;
      readonly value?: unknown;
    };
    const isText = type === "TemplateElement" || type === "JSXText";
    if (isText || (type === "Literal" && typeof value === "string" && isProse(value)))
      ranges.push([start, end]);
    for (const [key, child] of Object.entries(node)) if (key !== "source") visit(child);
  };
  visit(program);
  return ranges;
}

/** Start and end of each comment and string in an SQL file. */
function sqlRanges(text: string): [start: number, end: number][] {
  return [...text.matchAll(/--[^\n]*|'[^'\n]*'/g)]
    .filter(([found]) => found.startsWith("--") || isProse(found.slice(1, -1)))
    .map(({ 0: found, index }) => [index, index + found.length]);
}

function* matchesOf(rules: readonly Rule[], flags: string, text: string) {
  for (const { pattern, instead } of rules) {
    // Linear: scripts/check-patterns.ts checks the literal.
    for (const match of text.matchAll(new RegExp(pattern.source, flags)))
      yield { start: match.index, word: match[0], instead };
  }
}

/** The refused words of one file: in prose when it is code, anywhere when it is a document. */
export function findWords(path: string, text: string): WordHit[] {
  if (!anyPhrase.test(text) && !anyName.test(text)) return [];
  const isCode = /\.[mc]?[tj]sx?$/.test(path);
  const whole: [start: number, end: number][] = [[0, text.length]];
  const ranges = isCode ? proseRanges(path, text) : path.endsWith(".sql") ? sqlRanges(text) : whole;
  const inProse = [...matchesOf(phrases, "gi", text)].filter(({ start }) =>
    ranges.some(([from, to]) => start >= from && start < to),
  );
  const lines = text.split("\n");
  return [...inProse, ...(isCode ? matchesOf(names, "g", text) : [])]
    .filter(
      ({ word }) =>
        !allowed.some(
          (entry) => entry.path.test(path) && (entry.word === undefined || entry.word.test(word)),
        ),
    )
    .sort((a, b) => a.start - b.start)
    .map(({ start, word, instead }) => {
      const line = text.slice(0, start).split("\n").length;
      return { path, line, word, instead, text: (lines[line - 1] ?? "").trim() };
    });
}

const everything = [
  "*.md",
  ".github",
  "docs",
  "contract",
  "shared",
  "server",
  "web",
  "cli",
  "demo",
  "migrations",
  "scripts",
  "test",
  "bench",
];

/** The files that files, folders and patterns stand for, relative to the working directory. */
export function filesOf(paths: readonly string[]): string[] {
  const files = paths.flatMap((path) =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory()
      ? globSync(`${path}/**/*.{ts,tsx,js,mjs,cjs,py,sql,md,html,css,sh,yml,yaml}`, {
          exclude: ["**/dist/**", "**/node_modules/**", "bench/.data/**"],
        })
      : globSync(path),
  );
  return [...new Set(files)].sort();
}

/** The refused words of files, folders and patterns, relative to the working directory. */
export function findWordsIn(paths: readonly string[]): WordHit[] {
  return filesOf(paths).flatMap((path) => findWords(path, readFileSync(path, "utf8")));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const given = process.argv.slice(2);
  const hits = findWordsIn(given.length > 0 ? given : everything);
  for (const { path, line, word, instead, text } of hits)
    process.stdout.write(`${path}:${line}: "${word}" → ${instead}\n    ${text}\n`);
  process.stderr.write(`${hits.length} refused words; docs/writing.md says what to write instead\n`);
  if (hits.length > 0) process.exitCode = 1;
}
