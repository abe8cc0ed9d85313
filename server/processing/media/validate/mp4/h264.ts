import type { Probe } from "../bytes.ts";
import { DamagedFileError } from "../errors.ts";
import { type BitReader, bitReader, withoutEmulationPrevention } from "./bits.ts";

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** Profiles whose parameter sets contain the colour format (ISO/IEC 14496-10, 7.3.2.1.1). */
const highProfiles = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);
/** Encoders crop less than two macroblocks; a file that crops more hides the size that has to be decoded. */
const maxHonestCrop = 32;

/**
 * The picture size in a sequence parameter set.
 * @param nal with its header byte.
 * @throws DamagedFileError
 */
export function pictureSize(nal: Uint8Array): PictureSize {
  const reader = bitReader(withoutEmulationPrevention(nal.subarray(1)));
  const profile = reader.bits(8);
  reader.bits(16);
  reader.unsigned();
  const { chromaFormat, hasSeparatePlanes } = highProfiles.has(profile)
    ? colourFormat(reader)
    : { chromaFormat: 1, hasSeparatePlanes: false };
  skipOrder(reader);
  reader.unsigned();
  reader.bits(1);
  const codedWidth = 16 * (reader.unsigned() + 1);
  const mapUnits = reader.unsigned() + 1;
  const isFramesOnly = reader.bits(1) === 1;
  const codedHeight = 16 * mapUnits * (isFramesOnly ? 1 : 2);
  if (!isFramesOnly) reader.bits(1);
  reader.bits(1);
  if (reader.bits(1) === 0) return { width: codedWidth, height: codedHeight };
  const isSubsampled = !hasSeparatePlanes && chromaFormat !== 0;
  const unitX = isSubsampled && chromaFormat !== 3 ? 2 : 1;
  const unitY = (isSubsampled && chromaFormat === 1 ? 2 : 1) * (isFramesOnly ? 1 : 2);
  const cropX = unitX * (reader.unsigned() + reader.unsigned());
  const cropY = unitY * (reader.unsigned() + reader.unsigned());
  return {
    width: cropX < maxHonestCrop ? codedWidth - cropX : codedWidth,
    height: cropY < maxHonestCrop ? codedHeight - cropY : codedHeight,
  };
}

function colourFormat(reader: BitReader): { chromaFormat: number; hasSeparatePlanes: boolean } {
  const chromaFormat = reader.unsigned();
  const hasSeparatePlanes = chromaFormat === 3 && reader.bits(1) === 1;
  reader.unsigned();
  reader.unsigned();
  reader.bits(1);
  if (reader.bits(1) === 1) {
    for (let list = 0; list < (chromaFormat === 3 ? 12 : 8); list += 1)
      if (reader.bits(1) === 1) skipScalingList(reader, list < 6 ? 16 : 64);
  }
  return { chromaFormat, hasSeparatePlanes };
}

function skipScalingList(reader: BitReader, size: number): void {
  let last = 8;
  let next = 8;
  for (let index = 0; index < size; index += 1) {
    if (next !== 0) next = (last + reader.signed() + 256) % 256;
    if (next !== 0) last = next;
  }
}

/** Frame numbers and picture order count: not needed here. */
function skipOrder(reader: BitReader): void {
  reader.unsigned();
  const orderType = reader.unsigned();
  if (orderType === 0) reader.unsigned();
  if (orderType !== 1) return;
  reader.bits(1);
  reader.signed();
  reader.signed();
  const cycle = Math.min(reader.unsigned(), 255);
  for (let index = 0; index < cycle; index += 1) reader.signed();
}

export interface SampleFindings {
  /** Decoding can begin here: an IDR picture, a recovery point, or an intra-coded picture. */
  readonly isKeyframe: boolean;
  /** Parameter sets sent with the picture. */
  readonly sizes: readonly PictureSize[];
}

/** Types of NAL units (ISO/IEC 14496-10, table 7-1). */
const nal = { slice: 1, partitionA: 2, idr: 5, sei: 6, sps: 7 } as const;
const maxNalUnits = 64;

/**
 * Reads the NAL unit headers of one sample of an H.264 track.
 * @param lengthBytes size of the length in front of each unit (`avcC`).
 */
export function inspectSample(
  probe: Probe,
  offset: number,
  size: number,
  lengthBytes: number,
): SampleFindings {
  try {
    return inspectUnits(probe, offset, size, lengthBytes);
  } catch (error) {
    // Invalid bits here are a broken picture, not a broken file: players skip it.
    if (error instanceof DamagedFileError) return { isKeyframe: false, sizes: [] };
    throw error;
  }
}

function inspectUnits(probe: Probe, offset: number, size: number, lengthBytes: number): SampleFindings {
  const sizes: PictureSize[] = [];
  let at = 0;
  for (let count = 0; count < maxNalUnits && size - at > lengthBytes; count += 1) {
    const head = probe(offset + at, lengthBytes + 1);
    if (head.length <= lengthBytes) break;
    let length = 0;
    for (const byte of head.subarray(0, lengthBytes)) length = length * 256 + byte;
    const type = (head[lengthBytes] ?? 0) & 31;
    at += lengthBytes;
    if (length === 0 || length > size - at) break;
    const unit = (limit: number): Uint8Array => probe(offset + at, Math.min(length, limit));
    if (type === nal.idr) return { isKeyframe: true, sizes };
    if (type === nal.slice || type === nal.partitionA) return { isKeyframe: isIntraSlice(unit(32)), sizes };
    if (type === nal.sei && hasRecoveryPoint(unit(1024))) return { isKeyframe: true, sizes };
    if (type === nal.sps) sizes.push(pictureSize(unit(1024)));
    at += length;
  }
  return { isKeyframe: false, sizes };
}

/** Slice types I and SI (ISO/IEC 14496-10, table 7-6); some cameras mark such pictures as keyframes without IDR. */
function isIntraSlice(unit: Uint8Array): boolean {
  if (unit.length < 4) return false;
  const reader = bitReader(withoutEmulationPrevention(unit.subarray(1)));
  reader.unsigned();
  return [2, 4].includes(reader.unsigned() % 5);
}

/** Whether a supplemental message is a recovery point (payload type 6, ISO/IEC 14496-10, D.1). */
function hasRecoveryPoint(unit: Uint8Array): boolean {
  const content = withoutEmulationPrevention(unit.subarray(1));
  let at = 0;
  const number = (): number => {
    let value = 0;
    while (content[at] === 255) {
      value += 255;
      at += 1;
    }
    value += content[at] ?? 0;
    at += 1;
    return value;
  };
  // The last byte closes the unit.
  while (at < content.length - 1) {
    const type = number();
    const length = number();
    if (type === 6) return true;
    at += length;
  }
  return false;
}
