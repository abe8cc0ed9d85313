import type { Probe } from "../bytes.ts";

/** Titles are in front of pictures, which are what makes tags long. */
const maxTagBytes = 1 << 16;

/** The title in an ID3v2 tag at the beginning of a file (id3.org, ID3v2.2 to 2.4, 4.2.1: TT2 or TIT2). */
export function id3Title(probe: Probe): string | undefined {
  const tag = Buffer.from(probe(0, maxTagBytes));
  const version = tag[3] ?? 0;
  if (tag.toString("latin1", 0, 3) !== "ID3" || version < 2 || version > 4) return undefined;
  const end = Math.min(tag.length, 10 + sevenBits(tag, 6));
  const [head, wanted] = version === 2 ? [6, "TT2"] : [10, "TIT2"];
  const hasExtension = version > 2 && ((tag[5] ?? 0) & 0x40) !== 0;
  let at = 10;
  if (hasExtension && end >= 14) at += version === 4 ? sevenBits(tag, 10) : 4 + tag.readUInt32BE(10);
  while (at + head < end) {
    const size =
      version === 2
        ? tag.readUIntBE(at + 3, 3)
        : version === 4
          ? sevenBits(tag, at + 4)
          : tag.readUInt32BE(at + 4);
    if (size === 0) return undefined;
    const next = at + head + size;
    if (tag.toString("latin1", at, at + wanted.length) === wanted && next <= end)
      return textOf(tag.subarray(at + head, next));
    at = next;
  }
  return undefined;
}

/** A number whose bytes have seven bits each. */
function sevenBits(tag: Buffer, at: number): number {
  return tag.subarray(at, at + 4).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
}

/** The first byte names the encoding. */
function textOf(frame: Buffer): string | undefined {
  const encoding = ["latin1", "utf-16le", "utf-16be", "utf-8"][frame[0] ?? 0];
  const text = frame.subarray(1);
  const isBigEndian = frame[0] === 1 && text[0] === 0xfe && text[1] === 0xff;
  if (encoding === undefined) return undefined;
  // A list has its values between zeros.
  return new TextDecoder(isBigEndian ? "utf-16be" : encoding).decode(text).split("\0")[0];
}
