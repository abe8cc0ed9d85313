import { transcriptSentences } from "../sentences.ts";
import { type Cue, linesOf } from "./cue.ts";
import { maxCueCharacters } from "./lines.ts";
import { type Run, readReferences } from "./markup.ts";
import type { Report } from "./report.ts";
import { readClock } from "./times.ts";

/** Whether a file is TTML, as of Teams, YouTube and broadcasters. */
export function isTtml(file: string): boolean {
  const start = file.slice(0, 10_000);
  return start.trimStart().startsWith("<") && /<(?:\w{1,20}:)?tt[\s>]/i.test(start);
}

/** An element that is open. */
interface Element {
  readonly name: string;
  readonly line: number;
  /** Milliseconds; times within count from it. */
  readonly begin: number;
  readonly end: number | null;
  readonly hasTimes: boolean;
  /** Whether one of its times, or of those around it, can't be read. */
  readonly isBroken: boolean;
  /** The id of its speaker. */
  readonly agent: string | null;
  readonly keepsSpace: boolean;
  /** Its text, if it is a paragraph, or a part of one that has times of its own. */
  readonly runs: Run[] | null;
}

const timeAttributes = ["begin", "end", "dur"];

/** Deeper elements are read as if they had no tags. */
const maxDepth = 100;

/**
 * Reads the paragraphs of TTML (also called DFXP), and the spans with times of their own.
 * Source: https://www.w3.org/TR/ttml2/, sections 8, 12 and 14.
 */
export function* readTtml(file: string, report: Report): Generator<Cue | null> {
  const reader = new TtmlReader(report);
  let line = 1;
  let read = 0;
  for (const token of tokensOf(file)) {
    if (token.tag === null) reader.addText(token.text);
    else if (token.tag.isEnd) yield* reader.end(token.tag.name);
    else yield* reader.begin(token.tag, line);
    line += countLineFeeds(token.text);
    read += 1;
    if (read % 1000 === 0) yield null;
  }
  yield* reader.end(null);
}

class TtmlReader {
  readonly #report: Report;
  readonly #open: Element[] = [];
  readonly #names = new Map<string, string>();
  #agent: string | null = null;
  #frameRate = 30;
  #tickRate = 1;

  constructor(report: Report) {
    this.#report = report;
  }

  addText(whole: string): void {
    const parent = this.#open.at(-1);
    if (parent === undefined) return;
    // What is longer can't be a segment either, and is reported as that.
    const text = whole.slice(0, maxCueCharacters);
    const decoded = readReferences(text);
    if (parent.name === "name" && this.#agent !== null) {
      this.#names.set(this.#agent, `${this.#names.get(this.#agent) ?? ""}${decoded}`.trim());
      return;
    }
    const cue = this.#open.findLast(({ runs }) => runs !== null);
    const plain = parent.keepsSpace ? decoded : decoded.replaceAll(/\s+/g, " ");
    const voice = parent.agent === null ? null : (this.#names.get(parent.agent) ?? parent.agent);
    if (plain !== "") cue?.runs?.push({ text: plain, voice, at: null });
  }

  *begin({ name, attributes, isEmpty }: Tag, line: number): Generator<Cue> {
    const parent = this.#open.at(-1);
    if (name === "tt") {
      this.#frameRate = Number(attributes.get("frameRate")) || this.#frameRate;
      this.#tickRate = Number(attributes.get("tickRate")) || this.#tickRate;
    }
    if (name === "agent") this.#agent = attributes.get("id") ?? null;
    if (name === "br") {
      const cue = this.#open.findLast(({ runs }) => runs !== null);
      cue?.runs?.push({ text: "\n", voice: parent?.agent ?? null, at: null });
    }
    if (this.#open.length >= maxDepth) return;
    const base = parent?.begin ?? 0;
    const [begin, end, length] = timeAttributes.map((key) => this.#readTime(attributes.get(key)));
    const isBroken = [begin, end, length].some(
      (time, index) => time === null && attributes.has(timeAttributes[index] ?? ""),
    );
    const isTimed = begin !== null || end !== null || length !== null;
    const from = base + (begin ?? 0);
    const until = end != null ? base + end : length != null ? from + length : (parent?.end ?? null);
    const isCue = name === "p" || (name === "span" && isTimed && parent !== undefined);
    this.#open.push({
      name,
      line,
      begin: from,
      end: until,
      hasTimes: isTimed || (parent?.hasTimes ?? false),
      isBroken: isBroken || (parent?.isBroken ?? false),
      agent: attributes.get("agent") ?? parent?.agent ?? null,
      keepsSpace: attributes.has("space") ? attributes.get("space") === "preserve" : !!parent?.keepsSpace,
      runs: isCue ? [] : null,
    });
    if (isEmpty) yield* this.end(name);
  }

  /** Ends an element and those within it that aren't ended. @param name null: all. */
  *end(name: string | null): Generator<Cue> {
    const at = name === null ? 0 : this.#open.findLastIndex((element) => element.name === name);
    if (at === -1) return;
    for (const { runs, line, begin, end, hasTimes, isBroken } of this.#open.splice(at).reverse()) {
      const lines = linesOf(runs ?? []);
      if (lines.length === 0) continue;
      if (hasTimes && !isBroken) yield { line, start: begin, end: end ?? begin, lines };
      else this.#report.add(line, transcriptSentences.transcript_paragraph);
    }
    if (name === "agent") this.#agent = null;
  }

  /** Milliseconds; null: none that can be read. */
  #readTime(text: string | undefined): number | null {
    if (text === undefined) return null;
    const [, offset, unit] = /^\s*(\d{1,12}(?:\.\d{1,9})?)(h|ms|m|s|f|t)\s*$/.exec(text.slice(0, 40)) ?? [];
    if (offset !== undefined && unit !== undefined) {
      const ms = {
        h: 3_600_000,
        m: 60_000,
        s: 1000,
        ms: 1,
        f: 1000 / this.#frameRate,
        t: 1000 / this.#tickRate,
      };
      return Math.round(Number(offset) * (ms[unit as keyof typeof ms] ?? 0));
    }
    const [, clock, frames] =
      /^\s*(\d{1,6}:\d{1,2}:\d{1,2}):(\d{1,3}(?:\.\d{1,3})?)\s*$/.exec(text.slice(0, 40)) ?? [];
    if (clock !== undefined && frames !== undefined)
      return (readClock(clock)?.ms ?? 0) + Math.round((Number(frames) * 1000) / this.#frameRate);
    return readClock(text.slice(0, 40))?.ms ?? null;
  }
}

interface Tag {
  /** Without its prefix. */
  readonly name: string;
  readonly isEnd: boolean;
  readonly isEmpty: boolean;
  /** By their names without prefixes. */
  readonly attributes: ReadonlyMap<string, string>;
}

/** The tags of a file, and the text between them. Comments and the like are texts of no characters. */
function* tokensOf(file: string): Generator<{ text: string; tag: Tag | null }> {
  for (let from = 0; from < file.length; ) {
    const at = file.indexOf("<", from);
    if (at !== from) {
      yield { text: file.slice(from, at === -1 ? file.length : at), tag: null };
      if (at === -1) return;
    }
    const [close, length] = file.startsWith("<!--", at)
      ? ["-->", 3]
      : file.startsWith("<![CDATA[", at)
        ? ["]]>", 3]
        : [null, 1];
    const end = close === null ? endOfTag(file, at) : file.indexOf(close, at);
    from = end === -1 ? file.length : end + length;
    const text = file.slice(at, from);
    if (text.startsWith("<![CDATA[")) yield { text: text.slice(9, -3).replaceAll("&", "&amp;"), tag: null };
    else yield { text, tag: close === null && !/^<[?!]/.test(text) ? readTag(text) : ignored };
  }
}

const ignored: Tag = { name: "", isEnd: true, isEmpty: false, attributes: new Map() };

/** The `>` of a tag, which may also be in the value of an attribute; -1: there is none. */
function endOfTag(file: string, from: number): number {
  let quote = "";
  for (let at = from; at < file.length; at += 1) {
    const letter = file.charAt(at);
    if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === ">") return at;
  }
  return -1;
}

function readTag(text: string): Tag {
  const inner = text.slice(1, 5000);
  const name = /^\/?[\w:.-]{1,100}/.exec(inner)?.[0] ?? "";
  const attributes = new Map<string, string>();
  // Bounded: 5000 characters.
  for (const [, key = "", , double, single] of inner.matchAll(
    /([\w:.-]{1,100})(\s?=\s?)(?:"([^"]*)"|'([^']*)')/g,
  ))
    attributes.set(withoutPrefix(key), readReferences(double ?? single ?? ""));
  return {
    name: withoutPrefix(name.replace("/", "")),
    isEnd: name.startsWith("/"),
    isEmpty: text.endsWith("/>"),
    attributes,
  };
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(":") + 1);

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
