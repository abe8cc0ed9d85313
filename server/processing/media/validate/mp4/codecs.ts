import { readStreamDescription, type StreamDescription } from "./audio-config.ts";
import { type Box, children, childrenAsFar, find, fourLetters, indexDamaged } from "./boxes.ts";
import { type PictureSize, pictureSize } from "./h264.ts";

/** One encoding of a track's samples (an entry of `stsd`). */
export interface SampleEntry {
  /** ffmpeg's name; the four letters when unknown. */
  readonly codec: string;
  readonly isDecodable: boolean;
  /** The larger of the entry's value and the codec's own parameters. Zero for audio. */
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly sampleRate: number;
  /** H.264: bytes of the length before each NAL unit. */
  readonly nalLengthBytes: number | null;
}

const videoCodecs: Readonly<Record<string, string>> = {
  avc1: "h264",
  avc2: "h264",
  avc3: "h264",
  avc4: "h264",
  hvc1: "hevc",
  hev1: "hevc",
  dvh1: "hevc",
  dvhe: "hevc",
  vp08: "vp8",
  vp09: "vp9",
  av01: "av1",
  mp4v: "mpeg4",
  s263: "h263",
  h263: "h263",
  jpeg: "mjpeg",
  mjpa: "mjpeg",
  mjpb: "mjpeg",
  "png ": "png",
  apch: "prores",
  apcn: "prores",
  apcs: "prores",
  apco: "prores",
  ap4h: "prores",
  ap4x: "prores",
  AVdn: "dnxhd",
  AVdh: "dnxhd",
  xdvc: "mpeg2video",
  mp2v: "mpeg2video",
  SVQ3: "svq3",
  "rle ": "qtrle",
};

const audioCodecs: Readonly<Record<string, string>> = {
  mp4a: "aac",
  ".mp3": "mp3",
  "ms\0U": "mp3",
  Opus: "opus",
  fLaC: "flac",
  alac: "alac",
  "ac-3": "ac3",
  "ec-3": "eac3",
  samr: "amr_nb",
  sawb: "amr_wb",
  ima4: "adpcm_ima_qt",
  ulaw: "pcm_mulaw",
  alaw: "pcm_alaw",
};

/** Uncompressed audio. */
const pcm = new Set(["lpcm", "sowt", "twos", "in24", "in32", "fl32", "fl64", "raw ", "NONE", "ipcm", "fpcm"]);

/** @throws DamagedFileError */
export function readSampleEntries(view: DataView, stsd: Box, kind: "video" | "audio"): SampleEntry[] {
  if (stsd.end - stsd.bodyStart < 8) throw indexDamaged("the description of a track is too short");
  const boxes = childrenAsFar(view, stsd.bodyStart + 8, stsd.end);
  if (boxes.length === 0) throw indexDamaged("a track has no description");
  const version = view.getUint8(stsd.bodyStart);
  return boxes.map((box) =>
    kind === "video" ? readVideoEntry(view, box) : readAudioEntry(view, box, version),
  );
}

function readVideoEntry(view: DataView, box: Box): SampleEntry {
  if (box.end - box.bodyStart < 78) throw indexDamaged("the description of its video is too short");
  const inner = childrenAsFar(view, box.bodyStart + 78, box.end);
  const avcC = find(inner, "avcC");
  const known = videoCodecs[box.type];
  const esds = find(inner, "esds");
  const described = box.type === "mp4v" && esds ? readStreamDescription(view, esds).codec : null;
  const codec = described ?? known ?? nameOf(box.type);
  const said: PictureSize = {
    width: view.getUint16(box.bodyStart + 24),
    height: view.getUint16(box.bodyStart + 26),
  };
  const h264 = codec === "h264" ? readAvcConfig(view, avcC) : null;
  const sizes = [said, ...(h264?.sizes ?? [])];
  return {
    codec,
    isDecodable: known !== undefined,
    width: Math.max(...sizes.map(({ width }) => width)),
    height: Math.max(...sizes.map(({ height }) => height)),
    channels: 0,
    sampleRate: 0,
    nalLengthBytes: h264?.nalLengthBytes ?? null,
  };
}

/** `avcC` (ISO/IEC 14496-15, 5.3.3.1). */
function readAvcConfig(
  view: DataView,
  box: Box | undefined,
): { nalLengthBytes: number; sizes: PictureSize[] } {
  if (box === undefined || box.end - box.bodyStart < 7)
    throw indexDamaged("the description of its video is missing");
  const sizes: PictureSize[] = [];
  let at = box.bodyStart + 6;
  for (let left = view.getUint8(box.bodyStart + 5) & 31; left > 0 && box.end - at >= 2; left -= 1) {
    const length = view.getUint16(at);
    if (length > box.end - at - 2) throw indexDamaged("the description of its video is cut off");
    if (length > 0) sizes.push(pictureSize(new Uint8Array(view.buffer, view.byteOffset + at + 2, length)));
    at += 2 + length;
  }
  return { nalLengthBytes: (view.getUint8(box.bodyStart + 4) & 3) + 1, sizes };
}

function readAudioEntry(view: DataView, box: Box, stsdVersion: number): SampleEntry {
  const body = box.bodyStart;
  if (box.end - body < 28) throw indexDamaged("the description of its audio is too short");
  // QuickTime File Format, sound sample descriptions of version 1 and 2; ISO files state the version in `stsd` and add
  // nothing.
  const version = stsdVersion === 0 ? view.getUint16(body + 8) : 0;
  const isVersion2 = version === 2 && box.end - body >= 64;
  const extra = version === 1 ? 16 : isVersion2 ? 36 : 0;
  const inner = childrenAsFar(view, body + 28 + extra, box.end);
  const wave = find(inner, "wave");
  const esds = find(inner, "esds") ?? (wave && find(childrenAsFar(view, wave.bodyStart, wave.end), "esds"));
  const known = pcm.has(box.type) ? "pcm" : audioCodecs[box.type];
  const none: StreamDescription = { codec: null, channels: null, sampleRate: null };
  const described = box.type === "mp4a" && esds ? readStreamDescription(view, esds) : none;
  return {
    codec: described.codec ?? known ?? nameOf(box.type),
    isDecodable: known !== undefined,
    width: 0,
    height: 0,
    channels: described.channels ?? (isVersion2 ? view.getUint32(body + 40) : view.getUint16(body + 16)),
    sampleRate:
      described.sampleRate ||
      (isVersion2 ? Math.round(view.getFloat64(body + 32)) : view.getUint32(body + 24) >>> 16),
    nalLengthBytes: null,
  };
}

function nameOf(type: string): string {
  if (type === "encv" || type === "enca" || type === "drmi" || type === "drms") return "encrypted";
  return type.replace(/[^\x20-\x7e]/g, "?").trim();
}

/**
 * Refuses a track whose media is in another file (`dref`): a decoder must not be led to other files.
 * @throws DamagedFileError
 */
export function refuseOtherFiles(view: DataView, dref: Box): void {
  if (dref.end - dref.bodyStart < 8) return;
  for (const entry of children(view, dref.bodyStart + 8, dref.end)) {
    const length = entry.end - entry.bodyStart;
    // Flag 1: in this file. Some writers forget it and name no file.
    if (length < 4 || view.getUint32(entry.bodyStart) & 1 || length <= 5) continue;
    throw indexDamaged(`its media is in another file ("${fourLetters(view, entry.start + 4)}")`);
  }
}
