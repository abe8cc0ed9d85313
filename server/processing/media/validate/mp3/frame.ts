/** The header of an MPEG audio frame (ISO/IEC 11172-3, 2.4.2.3; 13818-3 for the half rates). */
export interface FrameHeader {
  /** 1, 2 or 2.5. */
  readonly version: number;
  /** 3 is mp3. */
  readonly layer: number;
  readonly sampleRate: number;
  readonly channels: number;
  readonly samples: number;
  /** Bits a second; 0 for the free format. */
  readonly bitRate: number;
  /** Bytes with the header; 0 for the free format, whose frames don't state it. */
  readonly bytes: number;
}

/** Kilobits a second by index; the caller handles the free format, the first one. */
const bitRates: Readonly<Record<string, readonly number[]>> = {
  "1-1": [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  "1-2": [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  "1-3": [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  "2-1": [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  "2-2": [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const sampleRates = [44_100, 48_000, 32_000] as const;

/** By the 11 bits of the header for version, layer, bit rate, sample rate and padding, and the channel mode. */
export type FrameTable = readonly (FrameHeader | null)[];

/** Computes every possible header, so that a frame costs one look-up: a four-hour file has half a million. */
export function createFrameTable(): FrameTable {
  return Array.from({ length: 1 << 13 }, (_none, key) => describe(key));
}

/** The header at a position; null if there is none. */
export function headerAt(table: FrameTable, content: Uint8Array, at: number): FrameHeader | null {
  const second = content[at + 1] ?? 0;
  if (content[at] !== 0xff || second < 0xe0) return null;
  const third = content[at + 2] ?? 0;
  const mode = (content[at + 3] ?? 0) >> 6;
  return table[(((second >> 1) & 15) << 9) | ((third >> 1) << 2) | mode] ?? null;
}

/** @param key version 2 bits, layer 2, bit rate 4, sample rate 2, padding 1, mode 2. */
function describe(key: number): FrameHeader | null {
  const mode = key & 3;
  const padding = (key >> 2) & 1;
  const rateIndex = (key >> 3) & 3;
  const bitRateIndex = (key >> 5) & 15;
  const layerBits = (key >> 9) & 3;
  const versionBits = (key >> 11) & 3;
  const baseRate = sampleRates[rateIndex];
  if (layerBits === 0 || versionBits === 1 || baseRate === undefined || bitRateIndex === 15) return null;
  const layer = 4 - layerBits;
  const version = versionBits === 3 ? 1 : versionBits === 2 ? 2 : 2.5;
  const sampleRate = baseRate / (version === 1 ? 1 : version === 2 ? 2 : 4);
  const family = version === 1 ? `1-${layer}` : `2-${Math.min(layer, 2)}`;
  const bitRate = (bitRates[family]?.[bitRateIndex] ?? 0) * 1000;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 1 ? 576 : 1152;
  const slot = layer === 1 ? 4 : 1;
  const bytes =
    bitRate === 0 ? 0 : (Math.floor((samples * bitRate) / (8 * slot * sampleRate)) + padding) * slot;
  return { version, layer, sampleRate, channels: mode === 3 ? 1 : 2, samples, bitRate, bytes };
}

/** Whether one frame may follow the other in the same recording. */
export function isLike(a: FrameHeader, b: FrameHeader): boolean {
  return a.layer === b.layer && a.version === b.version && a.sampleRate === b.sampleRate;
}

/** Offset of the table of contents of a `Xing` or `Info` frame from the frame's beginning; null if there is none. */
function contentsAt(header: FrameHeader, content: Uint8Array, at: number): number | null {
  const side = header.version === 1 ? (header.channels === 1 ? 17 : 32) : header.channels === 1 ? 9 : 17;
  // With a checksum the side information begins two bytes later; some encoders forget that.
  for (const offset of [4 + side, 6 + side])
    if (["Xing", "Info"].includes(textAt(content, at + offset))) return offset;
  return null;
}

function textAt(content: Uint8Array, at: number): string {
  return String.fromCharCode(...content.subarray(at, at + 4));
}

/**
 * Whether a first frame carries a table of contents instead of audio: `Xing` and `Info` follow the side information,
 * `VBRI` is at a fixed offset. The length that such a header states is not trusted.
 */
export function isContentsFrame(header: FrameHeader, content: Uint8Array, at: number): boolean {
  return contentsAt(header, content, at) !== null || textAt(content, at + 4 + 32) === "VBRI";
}

/** Whether a table of contents is that of a constant bit rate, from which players compute positions exactly. */
export function isOfConstantRate(header: FrameHeader, content: Uint8Array, at: number): boolean {
  const offset = contentsAt(header, content, at);
  return offset !== null && textAt(content, at + offset) === "Info";
}

/**
 * The length that a `Xing` or `Info` frame states: frames of audio, and bytes including the frame itself. Null unless
 * it states both.
 */
export function announcedBy(
  header: FrameHeader,
  content: Uint8Array,
  at: number,
): { readonly frames: number; readonly bytes: number } | null {
  const offset = contentsAt(header, content, at);
  if (offset === null || at + offset + 16 > content.length) return null;
  const view = new DataView(content.buffer, content.byteOffset + at + offset + 4, 12);
  const hasBoth = (view.getUint32(0) & 3) === 3;
  return hasBoth ? { frames: view.getUint32(4), bytes: view.getUint32(8) } : null;
}
