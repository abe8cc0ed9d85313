import { fillSentence } from "../../fill-sentence.ts";
import { transcriptSentences } from "../sentences.ts";
import { type Cue, linesOf } from "./cue.ts";
import { linesIn, maxCueCharacters } from "./lines.ts";
import { readMarkup } from "./markup.ts";
import type { Report } from "./report.ts";
import { isBrokenTiming, readTiming, type Timing } from "./times.ts";

interface Line {
  readonly text: string;
  readonly number: number;
  readonly isAfterBlank: boolean;
}

/** The first line of a part of WebVTT that is no cue. */
const noCue = /^(?:NOTE(?:\s|$)|WEBVTT(?:\s|$)|(?:STYLE|REGION)\s*$)/;

const isNumber = (text: string): boolean => /^\d{1,9}$/.test(text.trim());

/** A caller can pause after this many characters, also where there are no cues. */
const pauseEvery = 65_536;

/**
 * Reads the cues of WebVTT, SubRip and `.sbv`: a cue ends where the line with the times of the next one is, or the number or
 * name before that line. Blank lines and lines of spaces are part of a cue.
 * Source: https://www.w3.org/TR/webvtt1/, section 6.1.
 */
export function* readBlocks(file: string, report: Report): Generator<Cue | null> {
  const reader = new BlockReader(file, report);
  let pausedAt = 0;
  for (const line of linesIn(file)) {
    const cue = reader.read(line);
    if (cue !== null) yield cue;
    if (line.at - pausedAt < pauseEvery) continue;
    pausedAt = line.at;
    yield null;
  }
  yield reader.finish();
}

class BlockReader {
  readonly #report: Report;
  readonly #isVtt: boolean;
  readonly #isLoose: boolean;
  readonly #names: CueNames;
  #cue: { readonly timing: Timing; readonly line: number } | null = null;
  /** Whether the lines belong to a cue that is reported already. */
  #isSkipped = false;
  #isComment = false;
  #isAfterBlank = true;
  /** The lines since the last times, and their characters. */
  #lines: Line[] = [];
  #length = 0;

  constructor(file: string, report: Report) {
    this.#report = report;
    this.#isVtt = /^\s*WEBVTT/.test(file.slice(0, 100));
    // An arrow in the text is none between times.
    this.#isLoose = !this.#isVtt && !/\d\s{0,9}-->\s{0,9}-?\d/.test(file);
    this.#names = new CueNames(this.#isVtt);
  }

  /** Reads a line. @returns the cue that ends before it. */
  read({ text, number }: { readonly text: string; readonly number: number }): Cue | null {
    const isAfterBlank = this.#isAfterBlank;
    this.#isAfterBlank = text.trim() === "";
    if (this.#isAfterBlank) {
      this.#isComment = false;
      return null;
    }
    const timing = readTiming(text, this.#isLoose);
    if (timing !== null || this.#isBrokenTiming(text, isAfterBlank)) {
      this.#lines = this.#names.remove(this.#lines, isAfterBlank, this.#cue === null && !this.#isSkipped);
      const cue = this.finish();
      this.#isSkipped = timing === null;
      if (timing === null)
        this.#report.add(
          number,
          fillSentence(transcriptSentences.transcript_times_unread, { text: text.trim().slice(0, 60) }),
        );
      else this.#cue = { timing, line: number };
      return cue;
    }
    if (this.#isVtt && isAfterBlank && noCue.test(text)) {
      const cue = this.finish();
      this.#isComment = true;
      return cue;
    }
    if (!this.#isComment && !this.#isSkipped) this.#add({ text, number, isAfterBlank });
    return null;
  }

  #isBrokenTiming(text: string, isAfterBlank: boolean): boolean {
    if (this.#isComment) return false;
    const mayBegin = isAfterBlank || this.#cue === null || isNumber(this.#lines.at(-1)?.text ?? "");
    return mayBegin && isBrokenTiming(text);
  }

  #add(line: Line): void {
    this.#lines.push(line);
    this.#length += line.text.length;
    if (this.#length <= maxCueCharacters) return;
    this.#report.add(
      this.#cue?.line ?? line.number,
      fillSentence(transcriptSentences.transcript_cue_long, { limit: maxCueCharacters }),
    );
    this.#cue = null;
    this.#lines = [];
    this.#isSkipped = true;
  }

  /** The cue that was being read. */
  finish(): Cue | null {
    const [cue, lines, isSkipped] = [this.#cue, this.#lines, this.#isSkipped];
    this.#cue = null;
    this.#lines = [];
    this.#length = 0;
    this.#isSkipped = false;
    this.#isComment = false;
    if (cue === null) {
      if (lines[0] !== undefined && !isSkipped)
        this.#report.add(lines[0].number, transcriptSentences.transcript_no_times);
      return null;
    }
    const { timing, line } = cue;
    const raw = [timing.rest, ...lines.map(({ text }) => text)].join("\n");
    const text = this.#isLoose ? raw.replaceAll("[br]", "\n") : raw;
    return { line, start: timing.start, end: timing.end, lines: linesOf(readMarkup(text)) };
  }
}

/** Numbers and names before the times of cues. */
class CueNames {
  readonly #isVtt: boolean;
  #last: number | null = null;
  /** What stands before the first cue. */
  #first: "nothing" | "number" | "word" | "phrase" | null = null;

  constructor(isVtt: boolean) {
    this.#isVtt = isVtt;
  }

  /**
   * Removes the number or name of the next cue from the lines before its times.
   * @param isAfterBlank whether a blank line is between them and the times.
   * @param isAlone whether the lines belong to no cue.
   */
  remove(lines: Line[], isAfterBlank: boolean, isAlone: boolean): Line[] {
    const last = lines.at(-1);
    const isFirst = this.#first === null;
    if (last === undefined || !this.#isName(last, isAfterBlank, isAlone, lines.length)) {
      if (isFirst) this.#first = "nothing";
      return lines;
    }
    const name = last.text.trim();
    if (isNumber(name)) this.#last = Number(name);
    if (isFirst) this.#first = isNumber(name) ? "number" : /\s/.test(name) ? "phrase" : "word";
    return lines.slice(0, -1);
  }

  #isName(line: Line, isAfterBlank: boolean, isAlone: boolean, count: number): boolean {
    const name = line.text.trim();
    const isOnly = isAlone && count === 1;
    if (isNumber(name))
      return (
        isOnly || (!isAfterBlank && line.isAfterBlank) || Number(name) === (this.#last ?? Number.NaN) + 1
      );
    if (!this.#isVtt || isAfterBlank || !line.isAfterBlank) return false;
    if (isOnly) return true;
    const isWord = !/\s/.test(name);
    // The cue before has no text, if its file names cues by words; or else this is its text.
    if (!isAlone && count === 1) return this.#first === "word" && isWord;
    return this.#first === "phrase" || (isWord && this.#first === "word");
  }
}
