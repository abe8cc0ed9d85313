import { type Line, printLine } from "./lines.ts";

/**
 * Estimates the tokens of a text for an unknown model: one per three bytes of UTF-8. English has about four characters per
 * token, other Latin scripts three or fewer, Chinese one or fewer of three bytes each, so the estimate is on the high side.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / 3);
}

/** How much of the end of a chunk the next one repeats, so that sentences across the border are seen whole. */
const overlapShare = 0.05;

/**
 * Cuts a transcript at line ends into overlapping chunks of at most `maxTokens`. A line that is too long for a chunk is cut
 * between words and keeps its number.
 * @param maxTokens at least 100.
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

/** The tokens of a line with its line break. */
function costOf(line: Line): number {
  return estimateTokens(`${printLine(line)}\n`);
}

/** The last lines of a chunk that fit into `maxTokens`; empty if not even the last one does. */
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
  let from = 0;
  while (from < text.length) {
    // A token is three bytes and a UTF-16 unit is one to three, so this many units may be too many but never too few.
    let length = Math.min(text.length - from, maxTokens * 3);
    while (length > 1 && estimateTokens(text.slice(from, from + length)) > maxTokens)
      length = Math.floor(length * 0.9);
    let end = from + length;
    if (end < text.length) {
      // Searches only within the part, so that a text without spaces takes linear time.
      const space = text.slice(from, end + 1).lastIndexOf(" ");
      if (space > length / 2) end = from + space;
      // Never cuts a surrogate pair.
      else if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end += 1;
    }
    const part = text.slice(from, end).trim();
    if (part !== "") parts.push(part);
    from = end;
  }
  return parts;
}
