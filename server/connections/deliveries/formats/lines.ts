/*
 * Markdown as chats need it: lines with their inline parts. Only what every service can show is understood; anything else
 * stays as it was written.
 */

type Inline =
  | { readonly type: "text" | "bold" | "italic" | "code" | "date"; readonly text: string }
  | { readonly type: "link"; readonly text: string; readonly url: string };

export interface Line {
  readonly kind: "heading" | "item" | "done" | "open" | "text" | "blank";
  /** Levels of a list. */
  readonly indent: number;
  readonly inlines: readonly Inline[];
}

export function parseLines(markdown: string, dateMark: string): Line[] {
  return markdown.split(/\r?\n/).map((line) => parseLine(line, dateMark));
}

function parseLine(line: string, dateMark: string): Line {
  const text = line.trimStart();
  const spaces = line.length - text.length;
  const parsed = (kind: Line["kind"], content: string): Line => ({
    kind,
    indent: Math.min(5, Math.floor(spaces / 2)),
    inlines: parseInlines(content.trim(), dateMark),
  });
  if (text.trim() === "") return { kind: "blank", indent: 0, inlines: [] };
  const heading = /^#{1,6} (.*)$/.exec(text);
  if (heading !== null) return parsed("heading", (heading[1] ?? "").replaceAll("**", ""));
  const task = /^[-*+] \[([ xX])\] (.*)$/.exec(text);
  if (task !== null) return parsed(task[1] === " " ? "open" : "done", task[2] ?? "");
  const item = /^[-*+] (.*)$/.exec(text);
  if (item !== null) return parsed("item", item[1] ?? "");
  return parsed("text", text);
}

/** How far to search for the end of a link, or of emphasis. */
const maxSpan = 2000;

const marks = [
  { open: "**", type: "bold" },
  { open: "__", type: "bold" },
  { open: "*", type: "italic" },
  { open: "_", type: "italic" },
  { open: "`", type: "code" },
] as const;

function parseInlines(text: string, dateMark: string): Inline[] {
  const found: Inline[] = [];
  let plain = "";
  const flush = (): void => {
    if (plain !== "") found.push({ type: "text", text: plain });
    plain = "";
  };
  for (let at = 0; at < text.length; ) {
    const char = text.charAt(at);
    if (char === "\\" && /[!-/:-@[-`{-~]/.test(text.charAt(at + 1))) {
      plain += text.charAt(at + 1);
      at += 2;
      continue;
    }
    if (char === dateMark) {
      flush();
      found.push({ type: "date", text: "" });
      at += 1;
      continue;
    }
    const span = char === "[" ? readLink(text, at) : readMark(text, at);
    if (span === null) {
      plain += char;
      at += 1;
      continue;
    }
    flush();
    found.push(span.inline);
    at = span.end;
  }
  flush();
  return found;
}

interface Span {
  readonly inline: Inline;
  readonly end: number;
}

/** `[text](https://…)`; a link to anything else stays text. */
function readLink(text: string, at: number): Span | null {
  const rest = text.slice(at, at + maxSpan);
  const middle = rest.indexOf("](");
  const end = middle === -1 ? -1 : rest.indexOf(")", middle);
  if (end === -1) return null;
  const url = rest.slice(middle + 2, end);
  if (!/^(?:https?:\/\/|mailto:)[^\s<>|]+$/.test(url)) return null;
  return { inline: { type: "link", text: withoutEscapes(rest.slice(1, middle)), url }, end: at + end + 1 };
}

function readMark(text: string, at: number): Span | null {
  const mark = marks.find(({ open }) => text.startsWith(open, at));
  if (mark === undefined) return null;
  const { open, type } = mark;
  const from = at + open.length;
  // An underscore inside a word is part of it.
  if (open.includes("_") && /\w/.test(text.charAt(at - 1))) return null;
  const close = text.slice(from, from + maxSpan).indexOf(open);
  if (close <= 0) return null;
  const inner = text.slice(from, from + close);
  if (type !== "code" && (/^\s|\s$/.test(inner) || inner.endsWith("\\"))) return null;
  return {
    inline: { type, text: type === "code" ? inner : withoutEscapes(inner) },
    end: from + close + open.length,
  };
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([!-/:-@[-`{-~])/g, "$1");
}

/** How a service writes each part. */
export interface Style {
  readonly text: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly italic: (text: string) => string;
  readonly code: (text: string) => string;
  readonly link: (text: string, url: string) => string;
  /** The date of the recording. */
  readonly date: string;
  readonly prefix: (line: Line) => string;
}

function write(inline: Inline, style: Style): string {
  if (inline.type === "link") return style.link(inline.text, inline.url);
  return inline.type === "date" ? style.date : style[inline.type](inline.text);
}

/**
 * Writes a line in a service's format; one that is longer than a service takes becomes several, cut between words and never
 * inside of a link.
 */
export function writeLine(line: Line, style: Style, maxLength: number): string[] {
  const prefix = style.prefix(line);
  const parts = line.inlines.map((inline) => write(inline, style));
  const whole = prefix + parts.join("");
  if (whole.length <= maxLength) return [whole];
  const written: string[] = [];
  let current = prefix;
  const add = (piece: string): void => {
    if (current.length + piece.length > maxLength && current !== "") {
      written.push(current.trimEnd());
      current = "";
    }
    current += piece;
  };
  for (const inline of line.inlines)
    for (const piece of inline.type === "link" || inline.type === "date"
      ? [inline]
      : split(inline, maxLength)) {
      const text = write(piece, style);
      // Only a link can be longer; its URL, up to 2,000 characters, fits everywhere.
      add(text.length > maxLength && piece.type === "link" ? style.text(piece.url) : text);
    }
  if (current.trim() !== "") written.push(current.trimEnd());
  return written;
}

/** A part word by word; a word may become five times as long when it is escaped. */
function split(inline: Inline, maxLength: number): Inline[] {
  const most = Math.max(1, Math.floor(maxLength / 6));
  return (inline.text.match(/\S+\s*|\s+/g) ?? []).flatMap((word) => {
    const pieces: Inline[] = [];
    const characters = [...word];
    for (let at = 0; at < characters.length; at += most)
      pieces.push({ ...inline, text: characters.slice(at, at + most).join("") });
    return pieces;
  });
}

export interface Cut {
  readonly lines: readonly string[];
  readonly isCut: boolean;
}

/**
 * Leaves out the lines that don't fit, and ends with a line that leads to the whole.
 * @param size of a line with its line break, as the service counts it.
 */
export function cutToFit(
  lines: readonly string[],
  max: number,
  more: string,
  size: (line: string) => number = (line) => line.length + 1,
): Cut {
  let total = 0;
  let moreFits = 0;
  for (const [index, line] of lines.entries()) {
    if (total + size(more) <= max) moreFits = index;
    total += size(line);
    if (total > max) return { lines: [...dropTrailingHeadings(lines.slice(0, moreFits)), more], isCut: true };
  }
  return { lines, isCut: false };
}

function dropTrailingHeadings(lines: readonly string[]): string[] {
  const kept = [...lines];
  while (kept.at(-1)?.trim() === "") kept.pop();
  return kept;
}
