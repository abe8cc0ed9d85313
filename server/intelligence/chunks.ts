import { type Line, printLine } from "./lines.ts";

/**
 * How many tokens a text makes, for a model nobody knows: one for three bytes of UTF-8. English has four characters
 * to a token, other Latin scripts three or less, Chinese one or less of three bytes each; so this is rather too many.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / 3);
}

/** How much of the end of a chunk the next one repeats, so that what is said across the border is seen whole. */
const overlapShare = 0.05;

/**
 * Cuts a transcript into pieces of at most so many tokens, at lines, neighbours overlapping. A line that is too long by
 * itself is cut in words and keeps its number.
 * @param maxTokens 100 at least.
 */
export function chunkLines(lines: readonly Line[], maxTokens: number): Line[][] {
  const pieces = lines.flatMap((line) => cutLine(line, maxTokens));
  const chunks: Line[][] = [];
  let chunk: Line[] = [];
  let tokens = 0;
  for (const line of pieces) {
    const cost = costOf(line);
    if (tokens + cost > maxTokens && chunk.length > 0) {
      chunks.push(chunk);
      chunk = overlapOf(chunk, Math.min(maxTokens * overlapShare, maxTokens - cost));
      tokens = chunk.reduce((sum, kept) => sum + costOf(kept), 0);
    }
    chunk.push(line);
    tokens += cost;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** With its line break. */
function costOf(line: Line): number {
  return estimateTokens(`${printLine(line)}\n`);
}

/** The last lines of a chunk that fit into so many tokens; none when not even the last does. */
function overlapOf(chunk: readonly Line[], maxTokens: number): Line[] {
  let tokens = 0;
  let from = chunk.length;
  while (from > 1) {
    tokens += costOf(chunk[from - 1] as Line);
    if (tokens > maxTokens) break;
    from -= 1;
  }
  return chunk.slice(from);
}

function cutLine(line: Line, maxTokens: number): Line[] {
  if (costOf(line) <= maxTokens) return [line];
  const room = maxTokens - costOf({ ...line, text: "" });
  return cutText(line.text, Math.max(20, room)).map((text) => ({ ...line, text }));
}

/** Cuts a text into parts of at most so many tokens, between words where it can. Together they are the text. */
export function cutText(text: string, maxTokens: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (estimateTokens(rest) > maxTokens) {
    // A token is three bytes at least one of which makes a UTF-16 unit, so this many units may be too many, never too few.
    let end = Math.min(rest.length, maxTokens * 3);
    while (end > 1 && estimateTokens(rest.slice(0, end)) > maxTokens) end = Math.floor(end * 0.9);
    const space = rest.lastIndexOf(" ", end);
    if (space > end / 2) end = space;
    // Never between the two halves of a character.
    else if (/[\ud800-\udbff]/.test(rest[end - 1] ?? "")) end += 1;
    parts.push(rest.slice(0, end).trim());
    rest = rest.slice(end).trim();
  }
  if (rest !== "") parts.push(rest);
  return parts;
}
