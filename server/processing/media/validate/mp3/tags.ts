import type { Bytes } from "../bytes.ts";

const text = (content: Uint8Array, start: number, length: number): string =>
  String.fromCharCode(...content.subarray(start, start + length));

/**
 * The length of an ID3v2 tag (id3.org, ID3v2.4.0, 3.1) at a position, including header and footer; 0 if there is none.
 */
export function id3v2Bytes(content: Uint8Array, at: number): number {
  // The first letter alone is nearly always decisive: this runs at every byte outside a frame.
  if (content[at] !== 0x49 || text(content, at, 3) !== "ID3") return 0;
  const [version, revision, flags, ...size] = content.subarray(at + 3, at + 10);
  if (size.length < 4 || version === 255 || revision === 255 || size.some((byte) => byte > 127)) return 0;
  const length = size.reduce((sum, byte) => sum * 128 + byte, 0);
  return length + 10 + ((flags ?? 0) & 0x10 ? 10 : 0);
}

/** The length of an APEv2 tag with its header here; 0 if there is none. */
export function apeBytes(content: Uint8Array, at: number): number {
  if (content[at] !== 0x41 || text(content, at, 8) !== "APETAGEX" || content.length - at < 32) return 0;
  const view = new DataView(content.buffer, content.byteOffset + at, 32);
  // Bit 29 of the flags: this is the header, which the size does not include.
  return view.getUint32(20, true) & 0x2000_0000 ? view.getUint32(12, true) + 32 : 0;
}

/** Where the audio ends: before ID3v1, Lyrics3v2 and APE tags at the end of the file. */
export function soundEnd(bytes: Bytes): number {
  const length = Math.min(bytes.size, 512);
  const tail = new Uint8Array(length);
  bytes.readInto(tail, bytes.size - length);
  let end = length;
  if (end >= 128 && text(tail, end - 128, 3) === "TAG") end -= 128;
  if (end >= 15 && text(tail, end - 9, 9) === "LYRICS200") {
    const size = Number(text(tail, end - 15, 6));
    if (Number.isInteger(size)) return keepInside(bytes.size - length + end - 15 - size, bytes.size);
  }
  if (end >= 32 && text(tail, end - 32, 8) === "APETAGEX") {
    const view = new DataView(tail.buffer, end - 32, 32);
    // Bit 31: there is also a header, which the size does not include.
    const header = view.getUint32(20, true) & 0x8000_0000 ? 32 : 0;
    return keepInside(bytes.size - length + end - view.getUint32(12, true) - header, bytes.size);
  }
  return bytes.size - length + end;
}

/** A tag that claims to be longer than the file is ignored. */
function keepInside(end: number, size: number): number {
  return end > 0 ? end : size;
}
