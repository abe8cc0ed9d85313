import { type RefObject, useEffect } from "react";
import type { Segment } from "../api/recording/recording.ts";
import { segmentAt } from "../common/segments.ts";
import { placeWords, type SegmentWords, wordAt } from "../common/words.ts";
import { usePlayerContext } from "../player/context.ts";
import { rangeOf } from "./words.ts";

/** The name in `::highlight()`. */
const name = "spoken-word";

/**
 * Highlights the word that is being spoken. The document stays as it is, so selections survive; browsers without the CSS
 * Custom Highlight API show the current line alone.
 */
export function useSpokenWord(
  list: RefObject<HTMLElement | null>,
  segments: readonly Segment[],
  words: SegmentWords,
): void {
  const { playback } = usePlayerContext();
  useEffect(() => {
    if (words === null || typeof Highlight === "undefined" || CSS.highlights === undefined) return;
    let shown = "";
    const update = (): void => {
      const { timeMs } = playback.getState();
      const index = segmentAt(segments, timeMs);
      const segment = segments[index];
      const word = segment && wordAt(placeWords(segment, words[index]), timeMs);
      const text = list.current?.querySelector(`[data-index="${index}"] [data-text]`);
      const key = word === undefined || !text ? "" : `${index}.${word.from}`;
      if (key === shown) return;
      shown = key;
      const range = word === undefined || !text ? null : rangeOf(text, word.from, word.to);
      if (range === null) CSS.highlights.delete(name);
      else CSS.highlights.set(name, new Highlight(range));
    };
    update();
    const unsubscribe = playback.subscribe(update);
    return () => {
      unsubscribe();
      CSS.highlights.delete(name);
    };
  }, [list, segments, words, playback]);
}
