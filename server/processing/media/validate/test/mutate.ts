import type { Random } from "./random.ts";

const nastyNumbers = [0, 1, 2, 7, 8, 15, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff];
const boxTypes =
  /moov|mvhd|trak|tkhd|edts|elst|mdia|mdhd|hdlr|minf|stbl|stsd|stts|ctts|stsz|stsc|stco|stss|avcC|esds|mvex|trex|moof|traf|tfhd|tfdt|trun|mdat|ftyp/g;

/** Where the boxes of a file begin that matter for its index; for an mp3, any position does. */
function boxStarts(content: Buffer): number[] {
  return [...content.toString("latin1").matchAll(boxTypes)]
    .map(({ index }) => index - 4)
    .filter((at) => at >= 0);
}

/** The part of an mp4 that is not media. */
function indexRange(content: Buffer): [start: number, end: number] {
  const moov = content.indexOf("moov", 0, "latin1") - 4;
  if (moov < 0) return [0, Math.min(content.length, 4096)];
  return [moov, Math.min(content.length, moov + content.readUInt32BE(moov))];
}

type Mutation = (content: Buffer, random: Random) => Buffer;

/** Ways in which files get damaged, by accident or on purpose. */
export const mutations: Readonly<Record<string, Mutation>> = {
  "bits flipped in the index"(content, random) {
    const [start, end] = indexRange(content);
    for (let count = 1 + random.below(20); count > 0; count -= 1) {
      const at = start + random.below(end - start);
      content.writeUInt8((content[at] ?? 0) ^ (1 << random.below(8)), at);
    }
    return content;
  },
  "bits flipped anywhere"(content, random) {
    for (let count = 1 + random.below(200); count > 0; count -= 1) {
      const at = random.below(content.length);
      content.writeUInt8((content[at] ?? 0) ^ (1 << random.below(8)), at);
    }
    return content;
  },
  "cut off": (content, random) => content.subarray(0, random.below(content.length)),
  "a piece missing"(content, random) {
    const at = random.below(content.length);
    return Buffer.concat([content.subarray(0, at), content.subarray(at + 1 + random.below(2000))]);
  },
  "another size of a box"(content, random) {
    const starts = boxStarts(content);
    const at = starts.length > 0 ? random.pick(starts) : random.below(content.length - 4);
    const size = random.pick([
      ...nastyNumbers,
      content.length,
      content.readUInt32BE(at) + random.below(64) - 32,
    ]);
    content.writeUInt32BE(size >>> 0, at);
    return content;
  },
  "boxes swapped"(content, random) {
    const starts = boxStarts(content);
    if (starts.length < 2) return content;
    const [a, b] = [random.pick(starts), random.pick(starts)];
    const length = Math.min(64, content.length - Math.max(a, b));
    const kept = Buffer.from(content.subarray(a, a + length));
    content.copy(content, a, b, b + length);
    kept.copy(content, b);
    return content;
  },
  "a huge count"(content, random) {
    const starts = boxStarts(content);
    const at = starts.length > 0 ? random.pick(starts) + 8 : random.below(content.length);
    const place = Math.min(at + 4 * random.below(6), content.length - 4);
    content.writeUInt32BE(random.pick(nastyNumbers), place);
    return content;
  },
};
