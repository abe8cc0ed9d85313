import { indexDamaged } from "./boxes.ts";

/** Bits of a buffer, most significant first, with the codes of ISO/IEC 14496-10, 9.1. */
export interface BitReader {
  bits(count: number): number;
  /** `ue(v)` */
  unsigned(): number;
  /** `se(v)` */
  signed(): number;
}

/** @throws DamagedFileError, from its functions, when the bits run out. */
export function bitReader(content: Uint8Array): BitReader {
  let at = 0;
  const bit = (): number => {
    const byte = content[at >> 3];
    if (byte === undefined) throw indexDamaged("the description of a track ends too early");
    const value = (byte >> (7 - (at & 7))) & 1;
    at += 1;
    return value;
  };
  const bits = (count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index += 1) value = value * 2 + bit();
    return value;
  };
  const unsigned = (): number => {
    let zeros = 0;
    while (bit() === 0) {
      zeros += 1;
      if (zeros > 32) throw indexDamaged("the description of a track is invalid");
    }
    return 2 ** zeros - 1 + bits(zeros);
  };
  return {
    bits,
    unsigned,
    signed() {
      const code = unsigned();
      return code % 2 === 0 ? -code / 2 : (code + 1) / 2;
    },
  };
}

/** Without the bytes that prevent start codes in a NAL unit (ISO/IEC 14496-10, 7.4.1). */
export function withoutEmulationPrevention(nal: Uint8Array): Uint8Array {
  const plain = new Uint8Array(nal.length);
  let length = 0;
  let zeros = 0;
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    plain[length] = byte;
    length += 1;
  }
  return plain.subarray(0, length);
}
