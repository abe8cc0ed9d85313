import type { Segment, Word } from "../api/recording.ts";

/** The words of each segment, by the segment's position in the transcript; null: not loaded, or none has a time. */
export type SegmentWords = readonly (readonly Word[])[] | null;

/** A word whose time is known, with its place in the segment's text. */
interface PlacedWord {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** Parley's words are what whitespace separates, in order. */
export function placeWords(segment: Segment, words: readonly Word[] | undefined): PlacedWord[] {
  if (words === undefined || words.length === 0) return [];
  return [...segment.text.matchAll(/\S+/g)].flatMap(({ index, 0: text }, number) => {
    const { start, end } = words[number] ?? { start: null, end: null };
    return start === null || end === null ? [] : [{ from: index, to: index + text.length, start, end }];
  });
}

/** The word that is spoken at a time, or was last before it. */
export function wordAt(words: readonly PlacedWord[], ms: number): PlacedWord | undefined {
  return words.findLast(({ start }) => start <= ms);
}

/** The word at an offset of the text, if its time is known. */
export function wordAtOffset(words: readonly PlacedWord[], offset: number): PlacedWord | undefined {
  return words.find(({ from, to }) => offset >= from && offset <= to);
}

/** The offset in a line's text that a click was on; null outside the text. */
export function offsetAt(text: Element, x: number, y: number): number | null {
  const position = document.caretPositionFromPoint?.(x, y);
  const found = position ?? legacyPosition(x, y);
  if (found === null || found === undefined || !text.contains(found.offsetNode)) return null;
  const before = document.createRange();
  before.setStart(text, 0);
  before.setEnd(found.offsetNode, found.offset);
  return before.toString().length;
}

/** For browsers without caretPositionFromPoint. */
function legacyPosition(x: number, y: number): { offsetNode: Node; offset: number } | null {
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? { offsetNode: range.startContainer, offset: range.startOffset } : null;
}

/** The part of a line's text as a range of the document. */
export function rangeOf(text: Element, from: number, to: number): Range | null {
  const range = document.createRange();
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let done = 0;
  let hasStart = false;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0;
    if (!hasStart && from < done + length) {
      range.setStart(node, from - done);
      hasStart = true;
    }
    if (hasStart && to <= done + length) {
      range.setEnd(node, to - done);
      return range;
    }
    done += length;
  }
  return null;
}
