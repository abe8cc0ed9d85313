import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { ConvertedContainer } from "../../../../shared/files/media-formats.ts";

/** More than the longest Ogg page (65,307 bytes), AAC frame (8,191) and several packets of a transport stream. */
const tailBytes = 1 << 17;

/**
 * Whether the end of a file proves that it was cut off, though no length is stated: an Ogg stream without its last page, an
 * AAC frame or a packet of a transport stream that is not complete. A cut between two frames leaves no trace.
 * @param range the bytes that are the file; absent: all.
 */
export function isCutOff(
  path: string,
  container: ConvertedContainer,
  range?: { readonly start: number; readonly end: number },
): boolean {
  const check = checks[container];
  if (check === undefined) return false;
  const file = openSync(path, "r");
  try {
    const end = range?.end ?? statSync(path).size;
    const start = Math.max(range?.start ?? 0, end - tailBytes);
    const tail = Buffer.alloc(end - start);
    return check(tail.subarray(0, readSync(file, tail, 0, tail.length, start)));
  } finally {
    closeSync(file);
  }
}

/** Each gets the end of a file. */
const checks: Partial<Record<ConvertedContainer, (tail: Buffer) => boolean>> = {
  ogg: endsWithinOgg,
  aac: endsWithinAac,
  mpegts: endsWithinPacket,
};

/** Source: RFC 3533, 6: the last page of a stream is flagged, and a page states the length of each of its segments. */
function endsWithinOgg(tail: Buffer): boolean {
  // A page's sound may contain the four letters: a page also has the version 0 and one of eight flags.
  for (let at = tail.lastIndexOf("OggS"); at !== -1; at = at === 0 ? -1 : tail.lastIndexOf("OggS", at - 1)) {
    const [version, flags, segments] = [tail[at + 4], tail[at + 5], tail[at + 26]];
    if (version === undefined || flags === undefined || segments === undefined) return true;
    if (version !== 0 || flags > 7) continue;
    const lengths = tail.subarray(at + 27, at + 27 + segments);
    const end = at + 27 + segments + lengths.reduce((sum, length) => sum + length, 0);
    return end > tail.length || (flags & 4) === 0;
  }
  return false;
}

/** So many frames in a row are not there by chance. */
const minFrames = 3;

/** The header of each frame states its length (ISO/IEC 13818-7, 6.2). */
function endsWithinAac(tail: Buffer): boolean {
  for (let first = 0; first < Math.min(tail.length, 1 << 14); first += 1) {
    let at = first;
    let frames = 0;
    for (let length = frameBytes(tail, at); length !== null; length = frameBytes(tail, at)) {
      frames += 1;
      if (at + length > tail.length) break;
      at += length;
    }
    if (frames < minFrames) continue;
    // What remains is nothing, a frame that isn't complete, its header, or tags.
    const rest = tail.subarray(at);
    if (frameBytes(tail, at) !== null) return true;
    const beginning = rest.subarray(0, 3);
    return (
      rest.length > 0 && rest.length < 7 && beginning.equals(tail.subarray(first, first + beginning.length))
    );
  }
  return false;
}

/** The length that the header of an AAC frame at a position states; null: there is none. */
function frameBytes(tail: Buffer, at: number): number | null {
  if (at + 7 > tail.length || tail[at] !== 0xff || ((tail[at + 1] ?? 0) & 0xf6) !== 0xf0) return null;
  const length = (((tail[at + 3] ?? 0) & 3) << 11) | ((tail[at + 4] ?? 0) << 3) | ((tail[at + 5] ?? 0) >> 5);
  return length < 7 ? null : length;
}

/** Packets have 188 bytes and begin with 0x47 (ISO/IEC 13818-1, 2.4.3); cameras put 4 bytes in front of each. */
function endsWithinPacket(tail: Buffer): boolean {
  for (const [step, prefix] of [
    [188, 0],
    [192, 4],
  ] as const)
    for (let first = 0; first < step; first += 1) {
      const packets = Math.floor((tail.length - first - 1) / step) + 1;
      if (packets < minPackets) return false;
      const isAligned = Array.from({ length: packets }, (_, index) => tail[first + index * step]);
      if (isAligned.every((byte) => byte === 0x47)) return (tail.length - first + prefix) % step !== 0;
    }
  return false;
}

const minPackets = 5;
