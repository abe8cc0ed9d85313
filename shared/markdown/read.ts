/*
 * The common subset of Markdown, as what a page or a document is written from: headings, paragraphs, lists, quotes, rules,
 * tables, code, bold, italics and links. HTML in a text is never interpreted.
 */

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "paragraph" | "quote" | "code"; readonly text: string }
  | { readonly kind: "list"; readonly isOrdered: boolean; readonly items: readonly Item[] }
  | {
      readonly kind: "table";
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: "rule" };

interface Item {
  readonly depth: number;
  readonly text: string;
  /** Whether a box is ticked; null: the item has none. */
  readonly isDone: boolean | null;
}

const bullet = /^(\s*)(?:[-*+•]|(\d{1,9})[.)])\s(.*)$/;

/** Parses a text into blocks, line by line. */
export function readBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let paragraph: string[] = [];
  const end = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", text: paragraph.join("\n") });
    paragraph = [];
  };
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const heading = /^(#{1,6})\s(.*)$/.exec(line);
    if (line.startsWith("```")) {
      end();
      const from = i + 1;
      do i++;
      while (i < lines.length && !lines[i]?.startsWith("```"));
      blocks.push({ kind: "code", text: lines.slice(from, i).join("\n") });
    } else if (line.trim() === "") end();
    else if (heading !== null) {
      end();
      blocks.push({
        kind: "heading",
        level: heading[1]?.length ?? 1,
        text: withoutClosing(heading[2] ?? ""),
      });
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      end();
      blocks.push({ kind: "rule" });
    } else if (bullet.test(line)) {
      end();
      const list = takeWhile(lines, i, (next) => bullet.test(next));
      i += list.length - 1;
      const isOrdered = bullet.exec(line)?.[2] !== undefined;
      blocks.push({ kind: "list", isOrdered, items: list.map(readItem) });
    } else if (line.startsWith(">")) {
      end();
      const quote = takeWhile(lines, i, (next) => next.startsWith(">"));
      i += quote.length - 1;
      blocks.push({ kind: "quote", text: quote.map((next) => next.replace(/^>\s?/, "")).join("\n") });
    } else if (line.startsWith("|") && isDivider(lines[i + 1] ?? "")) {
      end();
      const rows = takeWhile(lines, i, (next) => next.startsWith("|"));
      i += rows.length - 1;
      const head = readCells(line);
      blocks.push({
        kind: "table",
        head,
        rows: rows.slice(2).map((row) => {
          const cells = readCells(row);
          return head.map((_, column) => cells[column] ?? "");
        }),
      });
    } else paragraph.push(line);
  }
  end();
  return blocks;
}

/** The lines from an index on that satisfy a condition, up to the first that does not. */
function takeWhile(lines: readonly string[], from: number, isPart: (line: string) => boolean): string[] {
  let to = from;
  while (to < lines.length && isPart(lines[to] ?? "")) to += 1;
  return lines.slice(from, to);
}

function readItem(line: string): Item {
  const [, indent = "", , text = ""] = bullet.exec(line) ?? [];
  const content = text.trimStart();
  const box = /^\[([ x])\]\s+/i.exec(content);
  return {
    depth: Math.min(3, Math.floor(indent.length / 2)),
    text: box === null ? content : content.slice(box[0].length),
    isDone: box === null ? null : box[1] !== " ",
  };
}

/** The text of a heading without its closing `#`s. */
function withoutClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return text.slice(0, end).trim();
}

/** The line below the head of a table: `| --- | :-: |`. */
function isDivider(line: string): boolean {
  return line.startsWith("|") && line.includes("-") && /^[|:\s-]+$/.test(line);
}

/** The cells of `| a | b\|c |`. */
function readCells(line: string): string[] {
  const cells: string[] = [];
  let cell = "";
  for (let at = 1; at < line.length; at++) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (char === "\\" && (next === "|" || next === "\\")) {
      cell += next;
      at += 1;
    } else if (char === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += char;
  }
  return cell.trim() === "" ? cells : [...cells, cell.trim()];
}

export type Inline =
  | { readonly kind: "text" | "bold" | "italic" | "code"; readonly text: string; readonly source: string }
  | { readonly kind: "link"; readonly text: string; readonly url: string };

const inline =
  /\*\*(?<bold>[^*]+)\*\*|__(?<strong>[^_]+)__|`(?<code>[^`]+)`|\[(?<label>[^[\]]+)\]\((?<url>[^()[\]\s]+)\)|(?<bare>https?:\/\/[^\s<>()[\]*`"]+)|\*(?<star>[^*\s][^*]*)\*|(?<![\p{L}\p{N}])_(?<low>[^_\s][^_]*)_(?![\p{L}\p{N}])/giu;

/** Parses a line into text, emphasis, code and links; `source` is a part as it was written. */
export function readInlines(text: string): Inline[] {
  const parts: Inline[] = [];
  let done = 0;
  const add = (to: number, part: Inline): void => {
    parts.push(part);
    done = to;
  };
  const plain = (part: string): Inline => ({ kind: "text", text: part, source: part });
  for (const match of text.matchAll(inline)) {
    const { bold, strong, code, label, url, bare, star, low } = match.groups ?? {};
    const source = match[0];
    const end = match.index + source.length;
    if (match.index > done) add(match.index, plain(text.slice(done, match.index)));
    if (bold ?? strong) add(end, { kind: "bold", text: bold ?? strong ?? "", source });
    else if (code) add(end, { kind: "code", text: code, source });
    else if (star ?? low) add(end, { kind: "italic", text: star ?? low ?? "", source });
    else if (bare) {
      // The end of a sentence is no part of a URL.
      const link = bare.replace(/[.,;:!?'_]{1,9}$/, "");
      add(match.index + link.length, { kind: "link", text: link, url: link });
    } else if (url !== undefined && isSafeUrl(url)) add(end, { kind: "link", text: label ?? "", url });
    else add(end, plain(label ?? ""));
  }
  if (done < text.length) add(text.length, plain(text.slice(done)));
  return parts;
}

/** A text without the marks of emphasis, links and, unless `hasCode` is false, code. */
export function withoutMarks(text: string, { hasCode = true } = {}): string {
  return text
    .split("\n")
    .map((line) =>
      readInlines(line)
        .map((part) => (part.kind === "code" && !hasCode ? part.source : part.text))
        .join(""),
    )
    .join("\n");
}

/** Other schemes could run scripts. */
function isSafeUrl(url: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(url);
}
