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
