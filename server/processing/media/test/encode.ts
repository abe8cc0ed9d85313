import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_INTERLACED_DCT,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLT,
  AV_SAMPLE_FMT_FLTP,
  AV_SAMPLE_FMT_S16,
} from "node-av/constants";
import { Dictionary, Rational } from "node-av/lib";
import { type Encoder, openEncoder } from "../render/encode/encoder.ts";
import { openOutput } from "../render/encode/output.ts";
import { check, checkWrite, newFrame, setOptions, silenceLibraries } from "../render/libav.ts";

/** A video track: a grey picture with a brighter square that moves. */
interface TestVideo {
  readonly codec: string;
  readonly width?: number;
  readonly height?: number;
  readonly fps?: number;
  /** Seconds between keyframes. */
  readonly keyframeSec?: number;
  /** Whether its pictures consist of two fields. */
  readonly isInterlaced?: boolean;
}

/** An audio track: a tone, in the seconds of `sounds` only. */
interface TestAudio {
  readonly codec: string;
  readonly hz?: number | ((sec: number) => number);
  readonly sampleRate?: number;
  readonly channels?: 1 | 2;
  /** Whether the second channel is the first one inverted. */
  readonly isInverted?: boolean;
  readonly bitRate?: number;
  readonly title?: string;
  readonly sounds?: (sec: number) => boolean;
  /** Options of the encoder. */
  readonly options?: Readonly<Record<string, string | number>>;
}

export interface TestFile {
  /** libav's name of the container. */
  readonly format: string;
  readonly video?: TestVideo;
  readonly audio?: readonly TestAudio[];
  readonly seconds?: number;
  /** Tags of the file, such as creation_time. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Options of the container: `live` writes WebM as browsers record it, without duration and cues. */
  readonly options?: Readonly<Record<string, string | number>>;
}

/** Sample formats of encoders that do not take planar floats. */
const sampleFormats: Readonly<Record<string, typeof AV_SAMPLE_FMT_S16 | typeof AV_SAMPLE_FMT_FLT>> = {
  libopus: AV_SAMPLE_FMT_FLT,
  flac: AV_SAMPLE_FMT_S16,
  pcm_s16le: AV_SAMPLE_FMT_S16,
  pcm_s16be: AV_SAMPLE_FMT_S16,
  mp2: AV_SAMPLE_FMT_S16,
  g722: AV_SAMPLE_FMT_S16,
  g726: AV_SAMPLE_FMT_S16,
};

/** Options with which encoders are quick enough for tests. */
const quick: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
  libx264: { preset: "ultrafast", threads: 1 },
  libvpx: { deadline: "realtime", "cpu-used": 8, threads: 1 },
  "libvpx-vp9": { deadline: "realtime", "cpu-used": 8, threads: 1 },
};

const root = fileURLToPath(new URL("../../../..", import.meta.url));
/** Files that an earlier run encoded. */
const cacheFolder = join(root, "node_modules", ".cache", "encoded");

/** Changes with what decides how a file is encoded. */
const version = createHash("sha256");
for (const name of [
  "test/encode.ts",
  ...["encode/encoder.ts", "encode/output.ts", "libav.ts"].map((one) => `render/${one}`),
])
  version.update(readFileSync(new URL(`../${name}`, import.meta.url)));
version.update(readFileSync(join(root, "node_modules", "node-av", "package.json")));

/** Encodes a file of 12 seconds or the given length by the project's own media library, or copies that of an earlier run. */
export function encodeFile(path: string, file: TestFile): void {
  let isPlain = true;
  const description = JSON.stringify(file, (_key, value) => {
    if (typeof value === "function") isPlain = false;
    return value;
  });
  // What a function uses beside its arguments is not known.
  if (!isPlain) {
    encode(path, file);
    return;
  }
  const cached = join(cacheFolder, version.copy().update(description).digest("hex"));
  try {
    copyFileSync(cached, path);
  } catch {
    // There is none yet.
    mkdirSync(cacheFolder, { recursive: true });
    const draft = mkdtempSync(join(cacheFolder, ".draft-"));
    encode(join(draft, "file"), file);
    copyFileSync(join(draft, "file"), path);
    renameSync(join(draft, "file"), cached);
    rmSync(draft, { recursive: true });
  }
}

function encode(path: string, file: TestFile): void {
  silenceLibraries();
  const seconds = file.seconds ?? 12;
  const output = openOutput(path, file.format);
  const video = file.video && openVideo(output, file.video, seconds);
  const audios = (file.audio ?? []).map((track) => openAudio(output, track, seconds));
  for (const [index, { title }] of (file.audio ?? []).entries())
    if (title !== undefined)
      (output.context.streams[index + (video ? 1 : 0)] ?? { metadata: null }).metadata =
        Dictionary.fromObject({
          title,
        });
  if (file.tags) output.context.metadata = Dictionary.fromObject({ ...file.tags });
  if (file.options) setOptions(output.context, file.options);
  checkWrite(output.context.writeHeaderSync(null), "write the header");
  // Second by second, so that the tracks are interleaved.
  for (let sec = 0; sec < seconds; sec++) for (const track of [video, ...audios]) track?.encode(sec);
  for (const track of [video, ...audios]) track?.end();
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.closeOutputSync();
}

interface Writer {
  encode(sec: number): void;
  end(): void;
}

function openVideo(output: ReturnType<typeof openOutput>, track: TestVideo, seconds: number): Writer {
  const { codec, width = 160, height = 90, fps = 5, keyframeSec = 10, isInterlaced = false } = track;
  const encoder = openEncoder(output, codec, quick[codec] ?? {}, (context) => {
    context.width = width;
    context.height = height;
    context.pixelFormat = AV_PIX_FMT_YUV420P;
    context.timeBase = new Rational(1, fps);
    context.framerate = new Rational(fps, 1);
    context.gopSize = fps * keyframeSec;
    if (isInterlaced) context.setFlags(AV_CODEC_FLAG_INTERLACED_DCT);
    context.bitRate = 100_000n;
  });
  const planes = Buffer.alloc(width * height + 2 * Math.ceil(width / 2) * Math.ceil(height / 2), 128);
  let n = 0;
  return {
    encode: (sec) => {
      for (; n < Math.min(sec + 1, seconds) * fps; n++) {
        for (let y = 20; y < 40; y++)
          planes.fill(80, y * width, (y + 1) * width).fill(220, y * width + n, y * width + n + 20);
        const frame = newFrame();
        Object.assign(frame, { width, height, format: AV_PIX_FMT_YUV420P });
        check(frame.getBuffer(0), "allocate a picture");
        check(frame.fromBuffer(planes), "fill a picture");
        frame.pts = BigInt(n);
        encoder.push(frame);
        frame.free();
      }
    },
    end: () => end(encoder),
  };
}

function openAudio(output: ReturnType<typeof openOutput>, track: TestAudio, seconds: number): Writer {
  const {
    codec,
    hz = 440,
    sampleRate = 48_000,
    channels = 1,
    sounds = () => true,
    options = {},
    isInverted = false,
  } = track;
  const format = sampleFormats[codec] ?? AV_SAMPLE_FMT_FLTP;
  const layout = channels === 1 ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO;
  let frameSize = 0;
  const encoder = openEncoder(output, codec, options, (context) => {
    context.sampleRate = sampleRate;
    context.sampleFormat = format;
    context.channelLayout = layout;
    context.bitRate = BigInt(track.bitRate ?? 64_000);
    context.timeBase = new Rational(1, sampleRate);
  });
  frameSize = output.context.streams.at(-1)?.codecpar.frameSize || 1024;
  let at = 0;
  const write = (count: number): void => {
    const values = Float32Array.from({ length: count }, (_, i) => {
      const sec = (at + i) / sampleRate;
      const frequency = typeof hz === "number" ? hz : hz(sec);
      return sounds(sec) ? 0.5 * Math.sin(2 * Math.PI * frequency * sec) : 0;
    });
    const frame = newFrame();
    Object.assign(frame, { format, sampleRate, channelLayout: layout, nbSamples: count });
    check(frame.getBuffer(0), "allocate sound");
    check(frame.fromBuffer(samplesOf(values, { channels, format, isInverted })), "fill in sound");
    frame.pts = BigInt(at);
    encoder.push(frame);
    frame.free();
    at += count;
  };
  return {
    encode: (sec) => {
      while (at + frameSize <= Math.min(sec + 1, seconds) * sampleRate) write(frameSize);
    },
    end: () => end(encoder),
  };
}

/** The same sound in every channel, or the opposite one in the second. */
function samplesOf(
  values: Float32Array,
  { channels, format, isInverted }: { channels: number; format: number; isInverted: boolean },
): Buffer {
  const isPlanar = format === AV_SAMPLE_FMT_FLTP;
  const length = values.length * channels;
  const valueAt = (i: number) => {
    const value = values[isPlanar ? i % values.length : Math.floor(i / channels)] ?? 0;
    const channel = isPlanar ? Math.floor(i / values.length) : i % channels;
    return isInverted && channel === 1 ? -value : value;
  };
  const samples =
    format === AV_SAMPLE_FMT_S16
      ? Int16Array.from({ length }, (_, i) => valueAt(i) * 32_767)
      : Float32Array.from({ length }, (_, i) => valueAt(i));
  return Buffer.from(samples.buffer);
}

function end(encoder: Encoder): void {
  encoder.push(null);
  encoder.close();
}

/** Writes a WAV file of GSM 6.10, as telephone systems do, of random sound; there is no encoder for it either. */
export function writeGsm(path: string, seconds = 12): void {
  // RFC 2361, A.17 (WAVE_FORMAT_GSM610): 65 bytes for each 40 ms at 8 kHz.
  const sound = Buffer.from(Array.from({ length: seconds * 25 * 65 }, (_, i) => (i * 7) % 251));
  const head = Buffer.alloc(48);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(40 + sound.length, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(20, 16);
  for (const [index, value] of [0x31, 1].entries()) head.writeUInt16LE(value, 20 + 2 * index);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(1625, 28);
  for (const [index, value] of [65, 0, 2, 320].entries()) head.writeUInt16LE(value, 32 + 2 * index);
  head.write("data", 40, "latin1");
  head.writeUInt32LE(sound.length, 44);
  writeFileSync(path, Buffer.concat([head, sound]));
}

/** Writes an AMR file of random sound; the media library has a decoder for it, but no encoder. */
export function writeAmr(path: string, seconds = 12): void {
  // RFC 4867, 5: the mode 12.2 kbit/s has 31 bytes for each 20 ms.
  const frames = Array.from({ length: seconds * 50 }, (_, n) =>
    Buffer.from([0x3c, ...Array.from({ length: 31 }, (_, i) => (n * 31 + i * 7) % 251)]),
  );
  writeFileSync(path, Buffer.concat([Buffer.from("#!AMR\n"), ...frames]));
}
