import { closeSync, openSync, readSync, statSync } from "node:fs";

/** The chunks in front of the sound are shorter than this, apart from rare large tags. */
const headBytes = 1 << 16;

/**
 * Whether the sound of a WAV file continues behind the length that its header states: recorders that were killed write the
 * length of an earlier moment, and lengths above 4 GiB don't fit. Behind a right length is the end or another chunk.
 * @param range the bytes that are the file; absent: all.
 */
export function exceedsStatedLength(
  path: string,
  range?: { readonly start: number; readonly end: number },
): boolean {
  const file = openSync(path, "r");
  try {
    const start = range?.start ?? 0;
    const end = range?.end ?? statSync(path).size;
    const read = (at: number, length: number): Buffer => {
      const content = Buffer.alloc(Math.max(0, Math.min(length, end - at)));
      return content.subarray(0, readSync(file, content, 0, content.length, at));
    };
    const head = read(start, headBytes);
    // RF64 states lengths elsewhere.
    if (head.toString("latin1", 0, 4) !== "RIFF") return false;
    for (let at = 12; at + 8 <= head.length; ) {
      const length = head.readUInt32LE(at + 4);
      if (head.toString("latin1", at, at + 4) !== "data") {
        at += 8 + length + (length & 1);
        continue;
      }
      const next = start + at + 8 + length;
      return (
        end - next > 8 && ![0, 1].some((padding) => isChunk(read(next + padding, 8), end - next - padding))
      );
    }
    return false;
  } finally {
    closeSync(file);
  }
}

/** Whether this may be the head of a chunk that fits into so many bytes. */
function isChunk(head: Buffer, bytes: number): boolean {
  if (head.length < 8) return true;
  const isNamed = head.subarray(0, 4).every((byte) => byte >= 0x20 && byte < 0x7f);
  return isNamed && head.readUInt32LE(4) + 8 <= bytes;
}
