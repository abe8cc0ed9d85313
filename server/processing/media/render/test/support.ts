import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from "mediabunny";
import sharp from "sharp";
import type { MediaContainer } from "../../../../../shared/files/media-formats.ts";
import type { MediaFacts } from "../../../../platform/db/json-columns.ts";
import { brightness } from "../encode/rgb.ts";
import { type MediaWorkOptions, type RenderResult, renderMedia } from "../index.ts";
import { closeInput, openInput, packetsOf, silenceLibraries } from "../libav.ts";

/** A committed media file. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../../../../test/fixtures/media/${name}`, import.meta.url));
}

/** Runs a test in its own folder, removed afterwards. */
export async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "parley-render-"));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The facts of a 12 s file in the stored form, with the given changes. */
export function factsOf(path: string, given: Partial<MediaFacts> = {}): MediaFacts {
  const container = path.slice(path.lastIndexOf(".") + 1) as MediaContainer;
  const mediaType = container === "mp3" || container === "m4a" ? "audio" : "video";
  return {
    container,
    mediaType,
    durationMs: 12_000,
    sizeBytes: 0,
    video:
      mediaType === "video"
        ? { codec: "h264", width: 160, height: 90, rotation: 0, maxKeyframeGapMs: 2000 }
        : null,
    audio: { codec: mediaType === "video" ? "aac" : "mp3", channels: 1, sampleRate: 44_100 },
    isFastStart: true,
    isStoredForm: container === "mp4" || container === "mp3",
    ...given,
  };
}

export function render(
  path: string,
  outDir: string,
  { facts = {}, ...options }: MediaWorkOptions & { facts?: Partial<MediaFacts> } = {},
): Promise<RenderResult> {
  return renderMedia({ inputPath: path, facts: factsOf(path, facts), outDir }, options);
}

/** Names of the top boxes of an mp4, in order. */
export function boxesOf(path: string): string[] {
  const bytes = readFileSync(path);
  const names: string[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    names.push(bytes.toString("latin1", at + 4, at + 8));
    at += Math.max(8, bytes.readUInt32BE(at));
  }
  return names;
}

/** The properties that another library reads in a file. */
export async function inspect(path: string) {
  using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  const tracks = await input.getTracks();
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  const keyframesSec: number[] = [];
  if (video !== null) {
    const sink = new EncodedPacketSink(video);
    let packet = await sink.getFirstPacket();
    while (packet !== null) {
      keyframesSec.push(packet.timestamp);
      packet = await sink.getNextKeyPacket(packet, { verifyKeyPackets: true });
    }
  }
  return {
    durationSec: await input.computeDuration(),
    trackCount: tracks.length,
    keyframesSec,
    codecs: [video, audio].map((track) => track?.codec ?? null),
    rotation: (await video?.getRotation()) ?? 0,
    size: video === null ? null : [await video.getDisplayWidth(), await video.getDisplayHeight()],
    videoCodec: (await video?.getCodecParameterString()) ?? null,
    videoPackets: (await video?.computePacketStats())?.packetCount ?? 0,
  };
}

/** A video with another rotation in the header of its first track, which has none. */
export function turned(path: string, degrees: 90 | 180 | 270): Buffer {
  const bytes = readFileSync(path);
  const identity = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
  const matrices: Record<number, number[]> = {
    90: [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000],
    180: [-0x10000, 0, 0, 0, -0x10000, 0, 0, 0, 0x40000000],
    270: [0, -0x10000, 0, 0x10000, 0, 0, 0, 0, 0x40000000],
  };
  const encode = (matrix: readonly number[]): Buffer => {
    const out = Buffer.alloc(36);
    for (const [i, value] of matrix.entries()) out.writeInt32BE(value, i * 4);
    return out;
  };
  const at = bytes.indexOf(encode(identity), bytes.indexOf("tkhd"));
  encode(matrices[degrees] ?? identity).copy(bytes, at);
  return bytes;
}

/** A file in which every packet of one of its tracks is damaged. */
export function damageTrack(path: string, track: "video" | "audio"): Buffer {
  silenceLibraries();
  const bytes = readFileSync(path);
  const input = openInput(path, path.endsWith("mp3") ? "mp3" : "mp4");
  const index = input[track]?.index;
  for (const packet of packetsOf(input))
    if (packet.streamIndex === index) bytes.fill(0, Number(packet.pos), Number(packet.pos) + packet.size);
  closeInput(input);
  return bytes;
}

/** Mean colours of a picture in a grid of 4×4. */
export async function gridOf(path: string): Promise<number[]> {
  const raw = await sharp(path).resize(4, 4, { fit: "fill" }).removeAlpha().raw().toBuffer();
  return [...raw];
}

export async function brightnessOf(path: string): Promise<{ mean: number; deviation: number }> {
  const { data, info } = await sharp(path).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return brightness({ data, width: info.width, height: info.height });
}

export async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}
