import type { Line } from "./lines.ts";
import { isUnspaced, locate, type Passage, wordsOnly } from "./quotes.ts";

/** A participant, with the key that identifies them in prompts. */
export interface Participant {
  readonly id: string;
  readonly name: string;
  /** The name of their account; null: they have none. */
  readonly accountName?: string | null;
}

/** The key of a participant in prompts, because names may repeat or contain anything. */
export function keyOf(position: number): string {
  return `P${position + 1}`;
}

/**
 * Finds the participant that a model named: by key, by full name, or by a part of a name that only one participant has.
 * @returns null when there is none or more than one.
 */
export function matchAssignee(said: string | null, participants: readonly Participant[]): string | null {
  if (said === null) return null;
  const key = /^\s*\[?(P\d+)\b/i.exec(said)?.[1]?.toUpperCase();
  if (key !== undefined) return participants.find((_, position) => keyOf(position) === key)?.id ?? null;
  return matchName(said, participants);
}

function matchName(name: string, participants: readonly Participant[]): string | null {
  const wanted = wordsOnly(name);
  if (wanted === "") return null;
  const named = participants.filter((participant) => wordsOnly(participant.name) === wanted);
  if (named.length > 0) return named.length === 1 ? (named[0]?.id ?? null) : null;
  const parts = participants.filter((participant) => wordsOnly(participant.name).split(" ").includes(wanted));
  return parts.length === 1 ? (parts[0]?.id ?? null) : null;
}

/** Whether the words of a meeting show that a participant is the one who is to do something. */
export type IsNamed = (personId: string, passage: Passage) => boolean;

/**
 * Only someone who speaks the quoted words, or whose name is said in them or in the line before or after them, may be the
 * assignee of an action item: the account of the assignee is notified and may complete it. The name is a full name, or a
 * part of one that nobody else in the meeting has, and both only where they lead to one participant.
 */
export function indexNames(participants: readonly Participant[], lines: readonly Line[]): IsNamed {
  const speakers = new Map(
    [...new Set(lines.map(({ speaker }) => speaker))].map((n) => [n, matchName(n, participants)]),
  );
  const speakerOf = ({ participantId, speaker }: Line) => participantId ?? speakers.get(speaker) ?? null;
  const others = [...speakers].flatMap(([name, id]) =>
    id === null ? [{ id: `speaker ${name}`, name }] : [],
  );
  /** Who has a full name, or a part of one. */
  const holders = new Map<string, Set<string>>();
  const named = [...participants, ...others].map((participant: Participant) => {
    const names = [participant.name, participant.accountName ?? ""];
    const full = names.map(fold).filter((name) => name !== "");
    const parts = names.flatMap(telling).map(fold);
    for (const key of [...full, ...parts])
      holders.set(key, (holders.get(key) ?? new Set()).add(participant.id));
    return [participant.id, { full, parts }] as const;
  });
  const namesOf = new Map(named);
  const isOnly = (key: string): boolean => holders.get(key)?.size === 1;
  const heard = new Map<Line, { readonly words: string; readonly names: ReadonlySet<string> }>();
  const hear = (line: Line) => {
    const known = heard.get(line);
    if (known !== undefined) return known;
    const words = {
      words: ` ${fold(line.text)} `,
      names: new Set(tokens(line.text).filter(isName).map(fold)),
    };
    heard.set(line, words);
    return words;
  };

  return (personId, { quoted, near }) => {
    if (quoted.some((line) => speakerOf(line) === personId)) return true;
    const { full = [], parts = [] } = namesOf.get(personId) ?? {};
    return near.map(hear).some(
      ({ words, names }) =>
        // A name of one word counts as a part.
        full.some((name) => name.includes(" ") && isOnly(name) && locate(words, name) >= 0) ||
        parts.some((part) => isOnly(part) && (isUnspaced(part) ? words.includes(part) : names.has(part))),
    );
  };
}

/** Names of people are compared without accents, which transcripts often leave out. */
function fold(text: string): string {
  return wordsOnly(text.normalize("NFD").replace(/(?<=\p{sc=Latin})\p{M}+/gu, ""));
}

function tokens(text: string): string[] {
  return text.normalize("NFC").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

/** The parts of a name that can stand for it: not an initial or a particle ("van"). */
function telling(name: string): string[] {
  const parts = tokens(name).filter((token) => token.length > 1);
  const capital = parts.filter(isName);
  return capital.length > 0 ? capital : parts.slice(0, 1);
}

/** Whether a word is written as a name, so that "I will" doesn't name Will. Most scripts have no small letters. */
function isName(token: string): boolean {
  return token.length > 1 && !/^\p{Ll}/u.test(token);
}
