import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
} from "node-av/constants";
import { Filter, type FilterContext, FilterGraph, Rational, type Stream } from "node-av/lib";
import { type Encoder, openEncoder } from "../server/processing/media/render/encode/encoder.ts";
import { openOutput } from "../server/processing/media/render/encode/output.ts";
import {
  check,
  checkWrite,
  closeInput,
  newFrame,
  openInput,
  packetsOf,
  setOptions,
  silenceLibraries,
} from "../server/processing/media/render/libav.ts";

/** A libav filter with its options. */
type Step = readonly [name: string, options: string];

export interface Clip {
  readonly video?: {
    readonly source: readonly Step[];
    readonly width: number;
    readonly height: number;
    readonly framesPerSec: number;
    readonly keyframeEvery: number;
    readonly bitsPerSec: number;
    /** Pads every picture to the bit rate, so that the file has the size that was asked for. */
    readonly isConstantRate?: boolean;
  };
  readonly audio: {
    readonly source: readonly Step[];
    readonly codec: "aac" | "libmp3lame";
    readonly options?: Record<string, string | number>;
    readonly bitsPerSec: number;
  };
}

const samplesPerSec = 44_100;
const samplesPerFrame = { aac: 1024, libmp3lame: 1152 } as const;

/** Encodes generated pictures and sound into a short mp4 or mp3. */
export function encodeClip(path: string, { video, audio }: Clip): void {
  silenceLibraries();
  const output = openOutput(path, video === undefined ? "mp3" : "mp4");
  const tracks: { frames: Frames; encoder: Encoder; perSec: number; count: number }[] = [];
  if (video !== undefined) {
    const { width, height, framesPerSec, keyframeEvery, bitsPerSec } = video;
    const limits = `vbv-maxrate=${bitsPerSec / 1000}:vbv-bufsize=${bitsPerSec / 1000}`;
    const options = {
      preset: "veryfast",
      "x264-params": video.isConstantRate ? `${limits}:nal-hrd=cbr:force-cfr=1` : limits,
    };
    const encoder = openEncoder(output, "libx264", options, (context) => {
      context.width = width;
      context.height = height;
      context.pixelFormat = AV_PIX_FMT_YUV420P;
      context.timeBase = new Rational(1, framesPerSec);
      context.framerate = new Rational(framesPerSec, 1);
      context.gopSize = keyframeEvery;
      context.bitRate = BigInt(Math.round(bitsPerSec));
    });
    const frames = openFrames([...video.source, ["format", "pix_fmts=yuv420p"], ["buffersink", ""]]);
    tracks.push({ frames, encoder, perSec: framesPerSec, count: 0 });
  }
  const size = samplesPerFrame[audio.codec];
  const encoder = openEncoder(output, audio.codec, audio.options ?? {}, (context) => {
    context.sampleRate = samplesPerSec;
    context.sampleFormat = AV_SAMPLE_FMT_FLTP;
    context.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    context.timeBase = new Rational(1, samplesPerSec);
    context.bitRate = BigInt(audio.bitsPerSec);
  });
  const format = `sample_fmts=fltp:sample_rates=${samplesPerSec}:channel_layouts=mono`;
  const frames = openFrames([
    ...audio.source,
    ["aformat", format],
    ["asetnsamples", `n=${size}:p=0`],
    ["abuffersink", ""],
  ]);
  tracks.push({ frames, encoder, perSec: samplesPerSec / size, count: 0 });
  checkWrite(output.context.writeHeaderSync(null), "write the header");
  const open = new Set(tracks);
  while (open.size > 0) {
    // The track that is behind, so that picture and sound lie beside each other in the file.
    const [next] = [...open].sort((a, b) => a.count / a.perSec - b.count / b.perSec);
    if (next === undefined) break;
    if (next.frames.next((frame) => next.encoder.push(frame))) next.count += 1;
    else {
      next.encoder.push(null);
      open.delete(next);
    }
  }
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.closeOutputSync();
  for (const track of tracks) {
    track.encoder.close();
    track.frames.close();
  }
}

interface Frames {
  /** @returns false at the end. */
  next(use: (frame: ReturnType<typeof newFrame>) => void): boolean;
  close(): void;
}

/** The frames of a generator, through filters. */
function openFrames(steps: readonly Step[]): Frames {
  const graph = new FilterGraph();
  graph.alloc();
  const contexts = steps.map(([name, options], n): FilterContext => {
    const filter = Filter.getByName(name);
    const context = filter === null ? null : graph.createFilter(filter, `step${n}`, options);
    if (context === null) throw new Error(`libav has no filter ${name} with ${options}`);
    return context;
  });
  for (const [n, context] of contexts.entries())
    if (n > 0) check((contexts[n - 1] as FilterContext).link(0, context, 0), "link filters");
  check(graph.configSync(), "configure filters");
  const sink = contexts.at(-1) as FilterContext;
  const frame = newFrame();
  return {
    next(use) {
      const code = sink.buffersinkGetFrameSync(frame);
      if (code === AVERROR_EOF) return false;
      check(code, "generate a frame");
      // A generator calls every picture a keyframe, and the encoder would make it one.
      frame.pictType = AV_PICTURE_TYPE_NONE;
      use(frame);
      frame.unref();
      return true;
    },
    close() {
      frame.free();
      graph.free();
    },
  };
}

/**
 * Writes a clip several times in a row without encoding it again: encoding hours would take longer than the bench.
 * @param file.options of the container.
 * @returns the path of the new file.
 */
export function repeatClip(
  clip: string,
  file: {
    readonly seconds: number;
    readonly times: number;
    readonly path: string;
    readonly options?: Readonly<Record<string, string | number>>;
  },
): string {
  const { seconds, times, path, options = {} } = file;
  const container = path.endsWith(".mp4") ? "mp4" : "mp3";
  silenceLibraries();
  const output = openOutput(path, container);
  const targets: Stream[] = [];
  const unitsPerSec: number[] = [];
  const isSound: boolean[] = [];
  for (let time = 0; time < times; time += 1) {
    const input = openInput(clip, container);
    if (time === 0) {
      for (const source of input.context.streams) {
        const target = output.context.newStream(null);
        check(source.codecpar.copy(target.codecpar), "copy a track");
        target.codecpar.codecTag = 0;
        target.timeBase = source.timeBase;
        targets.push(target);
        isSound.push(source.codecpar.codecType === AVMEDIA_TYPE_AUDIO);
        unitsPerSec.push(source.timeBase.den / source.timeBase.num);
      }
      setOptions(output.context, options);
      checkWrite(output.context.writeHeaderSync(null), "write the header");
    }
    const sources = input.context.streams;
    for (const packet of packetsOf(input)) {
      const { streamIndex } = packet;
      const [source, target] = [sources[streamIndex], targets[streamIndex]];
      if (source === undefined || target === undefined) continue;
      const offset = BigInt(Math.round(time * seconds * (unitsPerSec[streamIndex] ?? 0)));
      const isPadding = packet.dts < 0n;
      packet.pts += offset;
      packet.dts += offset;
      // What the encoder put before the sound must not go back in time in the middle of the file.
      if (isPadding && time > 0 && isSound[streamIndex]) continue;
      packet.rescaleTs(source.timeBase, target.timeBase);
      output.write(packet, target);
    }
    closeInput(input);
  }
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.closeOutputSync();
  return path;
}
