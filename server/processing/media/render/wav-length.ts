import { closeSync, openSync, readSync, statSync } from "node:fs";

/** The chunks in front of the sound are shorter than this, apart from rare large tags. */
const headBytes = 1 << 16;

/** Recorders that can't go back to the header write a length from here on; it says nothing. */
const minPlaceholder = 0x7f000000;

interface Sound {
  /** Where it begins. */
  readonly start: number;
  /** By the header. */
  readonly stated: number;
  /** Up to the end of the file. */
  readonly present: number;
  /** Reads up to `length` bytes from a position. */
  read(at: number, length: number): Buffer;
}

type Range = { readonly start: number; readonly end: number };

/** Finds the sound of a WAV file. RF64 states lengths elsewhere. */
function withSound<T>(path: string, range: Range | undefined, use: (sound: Sound) => T): T | null {
  const file = openSync(path, "r");
  try {
    const start = range?.start ?? 0;
    const end = range?.end ?? statSync(path).size;
    const read = (at: number, length: number): Buffer => {
      const content = Buffer.alloc(Math.max(0, Math.min(length, end - at)));
      return content.subarray(0, readSync(file, content, 0, content.length, at));
    };
    const head = read(start, headBytes);
    if (head.toString("latin1", 0, 4) !== "RIFF") return null;
    for (let at = 12; at + 8 <= head.length; ) {
      const stated = head.readUInt32LE(at + 4);
      const from = start + at + 8;
      if (head.toString("latin1", at, at + 4) === "data")
        return use({ start: from, stated, present: end - from, read });
      at += 8 + stated + (stated & 1);
    }
    return null;
  } finally {
    closeSync(file);
  }
}

/**
 * Whether the sound of a WAV file continues behind the length that its header states: recorders that were killed write the
 * length of an earlier moment, and lengths above 4 GiB don't fit. Behind a right length is the end or another chunk.
 * @param range the bytes that are the file; absent: all.
 */
export function exceedsStatedLength(path: string, range?: Range): boolean {
  const exceeds = withSound(path, range, ({ start, stated, present, read }) => {
    const rest = present - stated;
    return rest > 8 && ![0, 1].some((padding) => isChunk(read(start + stated + padding, 8), rest - padding));
  });
  return exceeds ?? false;
}

/** The part of a WAV file's sound that is in it, from 0 to 1: by the length in its header, all or less. */
export function presentPart(path: string, range?: Range): number {
  const part = withSound(path, range, ({ stated, present }) =>
    stated > present && stated < minPlaceholder ? present / stated : 1,
  );
  return part ?? 1;
}

/** Whether this may be the head of a chunk that fits into so many bytes. */
function isChunk(head: Buffer, bytes: number): boolean {
  if (head.length < 8) return true;
  const isNamed = head.subarray(0, 4).every((byte) => byte >= 0x20 && byte < 0x7f);
  return isNamed && head.readUInt32LE(4) + 8 <= bytes;
}
