const mediaBox = 0x6d646174;
const fragmentBox = 0x6d6f6f66;

/** The boxes of an mp4 in order; the last one may be incomplete. */
function* boxesOf(
  bytes: Uint8Array,
): Generator<{ readonly type: number; readonly at: number; readonly end: number }> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at);
    // Source: ISO/IEC 14496-12, 4.2; larger boxes and boxes up to the end are not written in fragments.
    if (size < 8) return;
    yield { type: view.getUint32(at + 4), at, end: at + size };
    at += size;
  }
}

/** @returns how many bytes at the beginning of an mp4 are whole fragments, each with what precedes it. */
export function wholeFragments(bytes: Uint8Array): number {
  let whole = 0;
  for (const { type, end } of boxesOf(bytes)) if (type === mediaBox && end <= bytes.length) whole = end;
  return whole;
}

/** @returns how many bytes at the beginning of an mp4 precede its first fragment: any fragment plays after them. */
export function headerLength(bytes: Uint8Array): number {
  for (const { type, at } of boxesOf(bytes)) if (type === fragmentBox) return at;
  return 0;
}
