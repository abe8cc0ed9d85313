import { bitReader } from "./bits.ts";
import type { Box } from "./boxes.ts";

/** The contents of an `esds` box (ISO/IEC 14496-1, 7.2.6). */
export interface StreamDescription {
  /** ffmpeg's name; null for an unknown number. */
  readonly codec: string | null;
  readonly channels: number | null;
  readonly sampleRate: number | null;
}

/** Object type indications (mp4ra.org). */
const codecs: Readonly<Record<number, string>> = {
  32: "mpeg4",
  33: "h264",
  35: "hevc",
  64: "aac",
  96: "mpeg2video",
  97: "mpeg2video",
  98: "mpeg2video",
  99: "mpeg2video",
  100: "mpeg2video",
  101: "mpeg2video",
  102: "aac",
  103: "aac",
  104: "aac",
  105: "mp3",
  106: "mpeg1video",
  107: "mp3",
  108: "mjpeg",
  165: "ac3",
  166: "eac3",
  173: "opus",
  221: "vorbis",
};

const sampleRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
/** By channel configuration (ISO/IEC 14496-3, table 1.19). */
const channelCounts: Readonly<Record<number, number>> = {
  1: 1,
  2: 2,
  3: 3,
  4: 4,
  5: 5,
  6: 6,
  7: 8,
  11: 7,
  12: 8,
  14: 8,
};

/** @throws DamagedFileError when the description ends too early. */
export function readStreamDescription(view: DataView, esds: Box): StreamDescription {
  const none: StreamDescription = { codec: null, channels: null, sampleRate: null };
  const es = descriptor(view, esds.bodyStart + 4, esds.end);
  if (es?.tag !== 3 || es.end - es.start < 3) return none;
  const flags = view.getUint8(es.start + 2);
  let at = es.start + 3;
  if (flags & 0x80) at += 2;
  if (flags & 0x40 && at < es.end) at += 1 + view.getUint8(at);
  if (flags & 0x20) at += 2;
  const config = descriptor(view, at, es.end);
  if (config?.tag !== 4 || config.end - config.start < 13) return none;
  const objectType = view.getUint8(config.start);
  const codec = codecs[objectType] ?? null;
  const specific = descriptor(view, config.start + 13, config.end);
  if (objectType !== 64 || specific?.tag !== 5) return { ...none, codec };
  return readAudioConfig(
    new Uint8Array(view.buffer, view.byteOffset + specific.start, specific.end - specific.start),
  );
}

function descriptor(
  view: DataView,
  start: number,
  end: number,
): { tag: number; start: number; end: number } | null {
  if (start >= end) return null;
  const tag = view.getUint8(start);
  let length = 0;
  let at = start + 1;
  for (let count = 0; count < 4 && at < end; count += 1) {
    const byte = view.getUint8(at);
    at += 1;
    length = length * 128 + (byte & 127);
    if (byte < 128) break;
  }
  return { tag, start: at, end: Math.min(at + length, end) };
}

/** AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1). */
function readAudioConfig(content: Uint8Array): StreamDescription {
  const reader = bitReader(content);
  const objectType = (): number => {
    const short = reader.bits(5);
    return short === 31 ? 32 + reader.bits(6) : short;
  };
  const rate = (): number => {
    const index = reader.bits(4);
    return index === 15 ? reader.bits(24) : (sampleRates[index] ?? 0);
  };
  let type = objectType();
  let sampleRate = rate();
  const configuration = reader.bits(4);
  // Explicit spectral band replication and parametric stereo: the actual rate follows, then the underlying codec.
  if (type === 5 || type === 29) {
    const isStereo = type === 29;
    sampleRate = rate();
    type = objectType();
    if (isStereo) return { codec: audioObject(type), channels: 2, sampleRate };
  }
  return { codec: audioObject(type), channels: channelCounts[configuration] ?? null, sampleRate };
}

function audioObject(type: number): string {
  if (type >= 32 && type <= 34) return ["mp1", "mp2", "mp3"][type - 32] ?? "aac";
  return type === 36 ? "als" : "aac";
}
