import type { Cue, CueLine } from "./cue.ts";

/** A name and a colon at the start of a line, which may be a speaker. */
interface Prefix {
  readonly name: string;
  /** Of the name, the colon and the blanks after it. */
  readonly length: number;
}

const maxName = 500;

/** What captions put before the line of another speaker. */
const mark = /^(?:>{1,3}|[-–—])\s*/;

/** Reads what may be a speaker's name. A full-width colon needs no blank behind it. */
function readPrefix(text: string): Prefix | null {
  const skipped = mark.exec(text)?.[0].length ?? 0;
  const head = text.slice(skipped, skipped + maxName + 1);
  const colon = /:(?=\s|$)|：/.exec(head);
  if (colon === null) return null;
  const name = head.slice(0, colon.index).trim();
  if (!/[\p{L}\p{N}]/u.test(name)) return null;
  const after = skipped + colon.index + 1;
  const rest = text.slice(after);
  return { name, length: after + rest.length - rest.trimStart().length };
}

/** Names of people are short and begin with capitals, if their letters have any; `Yes` looks like a name, too. */
function looksLikeName(name: string): boolean {
  const words = name.split(/\s+/);
  return words.length <= 6 && (words.length === 1 || words.every((word) => !/^\p{Ll}/u.test(word)));
}

const isVoiceless = ({ runs }: CueLine): boolean => runs.every(({ voice }) => voice === null);

/** Finds the speaker before the text of a line. */
export type FindPrefix = (line: CueLine) => Prefix | null;

/**
 * Decides by all cues which names before a colon are speakers: all if every cue has one; otherwise those that return, and
 * what looks like a name where most cues have one. In other files, a sentence may have a colon.
 */
export function* findSpeakers(cues: readonly Cue[]): Generator<null, FindPrefix> {
  const prefixed: Prefix[] = [];
  const counts = new Map<string, number>();
  let voiceless = 0;
  for (const { lines } of cues) {
    yield null;
    if (lines.length === 0 || !lines.every(isVoiceless)) continue;
    voiceless += 1;
    const prefixes = lines.map(({ text }) => readPrefix(text));
    const [first] = prefixes;
    if (first) prefixed.push(first);
    for (const name of new Set(prefixes.flatMap((prefix) => prefix?.name ?? [])))
      counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const isAll = prefixed.length === voiceless;
  const isMost = prefixed.length * 2 > voiceless;
  const speakers = new Set(isAll ? prefixed.map(({ name }) => name) : []);
  if (isMost) for (const { name } of prefixed) if (looksLikeName(name)) speakers.add(name);
  for (const [name, count] of counts)
    if (count > 1 && (isMost || name.split(/\s+/).length <= 6)) speakers.add(name);
  return (line) => {
    if (!isVoiceless(line)) return null;
    const prefix = readPrefix(line.text);
    return prefix !== null && speakers.has(prefix.name) ? prefix : null;
  };
}
