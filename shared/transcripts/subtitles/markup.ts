import { decodeHTMLStrict } from "entities/decode";
import { readClock } from "./times.ts";

/** A part of a cue's text between two changes of its voice or two timestamps. */
export interface Run {
  readonly text: string;
  /** The speaker that the format names. */
  readonly voice: string | null;
  /** The timestamp before it, in milliseconds. */
  readonly at: number | null;
}

/**
 * The tags that players know: with classes in WebVTT, `<font …>` in SubRip, and overrides such as `{\an8}`. Everything else
 * between `<` and `>` is text.
 * Source: https://www.w3.org/TR/webvtt1/, section 4.2.2.
 */
const markup =
  /<(?:(\/?)(v|c|i|b|u|s|ruby|rt|lang)(?:\.[^\s<>]*)?>|(v)(?:\.[^\s<>]*)?\s([^<>]*)>|(?:lang(?:\.[^\s<>]*)?\s[^<>]*|\/?font(?:\s[^<>]*)?)>|(br) ?\/?>|((?:\d{1,6}:)?\d{1,2}:\d{1,2}[.,]\d{1,4})>)|\{\\[^{}]*\}/gi;

/** Splits the text of a cue, whose lines are separated by line feeds, into runs. */
export function readMarkup(raw: string): Run[] {
  const runs: Run[] = [];
  const voices: string[] = [];
  let voice: string | null = null;
  let at: number | null = null;
  let text = "";
  const end = (): void => {
    if (text !== "") runs.push({ text, voice, at });
    text = "";
  };
  let from = 0;
  for (const match of raw.matchAll(markup)) {
    text += readReferences(raw.slice(from, match.index));
    from = match.index + match[0].length;
    const [, slash, tag, named, name = "", lineBreak, timestamp] = match;
    if (lineBreak !== undefined) text += "\n";
    else if (timestamp !== undefined) {
      end();
      at = readClock(timestamp)?.ms ?? null;
    } else if (named !== undefined || (tag?.toLowerCase() === "v" && slash === "/")) {
      end();
      if (named !== undefined) voices.push(readReferences(name).trim());
      else voices.pop();
      voice = voices.at(-1) || null;
    }
  }
  text += readReferences(raw.slice(from));
  end();
  return runs;
}

const reference = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;

/** Replaces the character references of HTML, without those of characters that no text has. */
export function readReferences(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(reference, (whole) => {
    const decoded = decodeHTMLStrict(whole);
    if (decoded === "\u00a0") return " ";
    if (decoded === "\u200e" || decoded === "\u200f") return "";
    return /[\0\uFFFD]/.test(decoded) ? whole : decoded;
  });
}
