import type { Cue } from "./cue.ts";

/**
 * Removes the lines that rolling captions repeat: each cue shows the last lines of the cue before it and adds to them.
 * @returns the cues as they are, unless half of them and more begin with the end of the cue before.
 */
export function rollUp(cues: readonly Cue[]): readonly Cue[] {
  const repeated = cues.map((cue, index) => repeatedLines(cues[index - 1], cue));
  const rolling = repeated.filter((count) => count > 0).length;
  const adds = repeated.some((count, index) => count > 0 && count < (cues[index]?.lines.length ?? 0));
  const isTwoLines = cues.some(({ lines }) => lines.length > 1);
  if (!adds || !isTwoLines || rolling * 2 < cues.length - 1) return cues;
  return cues.map((cue, index) => ({ ...cue, lines: cue.lines.slice(repeated[index]) }));
}

/** How many of its lines a cue repeats: the most that end the cue before. */
function repeatedLines(before: Cue | undefined, { lines }: Cue): number {
  if (before === undefined) return 0;
  const shown = before.lines;
  for (let count = Math.min(maxShown, shown.length, lines.length); count > 0; count -= 1)
    if (lines.slice(0, count).every(({ text }, index) => text === shown.at(index - count)?.text))
      return count;
  return 0;
}

/** Captions show no more lines than that. */
const maxShown = 20;
