/** @returns how many bytes at the beginning of an mp4 are whole fragments, each with what precedes it. */
export function wholeFragments(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let whole = 0;
  for (let at = 0; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at);
    // Source: ISO/IEC 14496-12, 4.2; larger boxes and boxes up to the end are not written in fragments.
    if (size < 8) return whole;
    const isMedia = view.getUint32(at + 4) === 0x6d646174;
    at += size;
    if (isMedia && at <= bytes.length) whole = at;
  }
  return whole;
}
