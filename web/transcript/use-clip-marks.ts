import { type RefObject, useEffect } from "react";
import type { Segment } from "../api/recording/recording.ts";
import { clippedParts, type SegmentWords } from "../common/words.ts";
import { usePlayerContext } from "../player/context.ts";
import { rangeOf } from "./words.ts";

/** The name in `::highlight()`. */
const name = "clipped-words";

/** Marks the words of highlights in the rows that are in the document, like the spoken word. */
export function useClipMarks(
  list: RefObject<HTMLElement | null>,
  segments: readonly Segment[],
  words: SegmentWords,
): void {
  const { markers } = usePlayerContext();
  // Rows come and go with each scroll, so this runs after every render.
  useEffect(() => {
    if (typeof Highlight === "undefined" || CSS.highlights === undefined || list.current === null) return;
    const ranges: Range[] = [];
    for (const text of list.current.querySelectorAll("[data-index] [data-text]")) {
      const index = Number(text.closest<HTMLElement>("[data-index]")?.dataset.index);
      const segment = segments[index];
      if (segment === undefined) continue;
      for (const [from, to] of clippedParts(segment, words?.[index] ?? [], markers)) {
        const range = rangeOf(text, from, to);
        if (range !== null) ranges.push(range);
      }
    }
    if (ranges.length === 0) CSS.highlights.delete(name);
    else CSS.highlights.set(name, new Highlight(...ranges));
  });
  useEffect(() => () => void CSS.highlights?.delete(name), []);
}
