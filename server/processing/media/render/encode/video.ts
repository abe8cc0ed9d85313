import { availableParallelism } from "node:os";
import {
  AV_CODEC_FLAG_FRAME_DURATION,
  AV_FRAME_FLAG_INTERLACED,
  AV_NOPTS_VALUE,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AVCHROMA_LOC_LEFT,
} from "node-av/constants";
import { type Frame, Rational, type Stream } from "node-av/lib";
import { decodeRemedy, MediaFailedError } from "../errors.ts";
import { decode, displaySize, newFrame, openDecoder, rotationOf, secondsOf } from "../libav.ts";
import { type Part, picturesOf } from "../part.ts";
import { maxHeight } from "../plan.ts";
import { openEncoder } from "./encoder.ts";
import { type Graph, openGraph, type Step } from "./graph.ts";
import type { Output, Track } from "./output.ts";

/** The most that a player has to decode when it seeks. */
const keyframeSec = 2;
/** How far outside the video a damaged file may place a frame. */
const slackSec = 5;

/** An encoder that takes the frames of one video or of several in succession. */
export interface VideoSink {
  readonly size: { readonly width: number; readonly height: number };
  readonly timeBase: { readonly num: number; readonly den: number };
  push(frame: Frame): void;
  /** Whether it has received a frame. */
  readonly isUsed: () => boolean;
  finish(): void;
  close(): void;
}

/** Opens the h264 encoder of a track: at most 720 lines high, with square pixels. */
export function openVideoSink(
  output: Output,
  { like, timeBase }: { readonly like: Stream; readonly timeBase: { num: number; den: number } },
): VideoSink {
  const size = storedSize(displaySize(like));
  const { num, den } = like.avgFrameRate;
  const frameRate = num > 0 && den > 0 ? Math.min(120, Math.max(1, num / den)) : 30;
  const encoder = openEncoder(
    output,
    "libx264",
    // As many frames in flight as x264 itself uses: with fewer, decoder and encoder wait for each other.
    { preset: "veryfast", crf: 23, "forced-idr": 1, threads: Math.ceil(decoderThreads() * 1.5) },
    (context) => {
      context.width = size.width;
      context.height = size.height;
      context.pixelFormat = AV_PIX_FMT_YUV420P;
      context.sampleAspectRatio = new Rational(1, 1);
      context.timeBase = new Rational(timeBase.num, timeBase.den);
      context.framerate = new Rational(Math.round(frameRate * 1000), 1000);
      context.gopSize = Math.max(1, Math.round(frameRate * keyframeSec));
      context.chromaLocation = AVCHROMA_LOC_LEFT;
      // Without it the last picture would have no duration.
      context.setFlags(AV_CODEC_FLAG_FRAME_DURATION);
    },
  );
  let lastPts: bigint | null = null;
  let nextKeySec = Number.NEGATIVE_INFINITY;
  return {
    size,
    timeBase,
    push: (frame) => {
      if (frame.pts === AV_NOPTS_VALUE || (lastPts !== null && frame.pts <= lastPts)) return;
      lastPts = frame.pts;
      const sec = (Number(frame.pts) * timeBase.num) / timeBase.den;
      // Counting frames alone leaves long gaps where the frame rate varies, as in screen shares.
      const isKey = sec >= nextKeySec;
      if (isKey) nextKeySec = sec + keyframeSec - 0.5 / frameRate;
      frame.pictType = isKey ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
      encoder.push(frame);
    },
    isUsed: () => lastPts !== null,
    finish: () => encoder.push(null),
    close: () => encoder.close(),
  };
}

function decoderThreads(): number {
  return Math.min(4, availableParallelism());
}

/**
 * Encodes a track as h264, upright, at most 720 lines high, with square pixels, keeping the time of each frame.
 * @param part only this part, with times from its start.
 */
export function encodeVideo(
  source: Stream,
  output: Output,
  durationMs: number,
  part: Part | null = null,
): Track {
  const sink = openVideoSink(output, { like: source, timeBase: source.timeBase });
  const track = decodeVideo(source, sink, { durationMs, part });
  return {
    ...track,
    finish: () => {
      track.finish();
      if (!sink.isUsed())
        throw new MediaFailedError(
          `The video can't be decoded: all of its frames are damaged. ${decodeRemedy}`,
        );
      sink.finish();
    },
    close: () => {
      track.close();
      sink.close();
    },
  };
}

/**
 * Decodes a track into an encoder, which the caller finishes.
 * @param options.startSec where the track begins in what is encoded; only for a video that is joined to others.
 */
export function decodeVideo(
  source: Stream,
  sink: VideoSink,
  options: { readonly durationMs: number; readonly part?: Part | null; readonly startSec?: number },
): Track {
  const { durationMs, part = null, startSec = null } = options;
  const decoder = openDecoder(source, decoderThreads());
  const frame = newFrame();
  let graph: { key: string; graph: Graph } | null = null;
  // Once a frame is: they may alternate with others.
  let isInterlaced = false;
  const filter = (shown: Frame): void => {
    isInterlaced ||= (shown.flags & AV_FRAME_FLAG_INTERLACED) !== 0;
    // A video may change its size or its format midway.
    const key = `${pictureSource(shown, source)}:${isInterlaced}`;
    if (graph?.key !== key) {
      graph?.graph.run(null, sink.push);
      graph?.graph.close();
      graph = { key, graph: openGraph(videoSteps(shown, source, sink, { startSec, isInterlaced })) };
    }
    graph.graph.run(shown, sink.push);
  };
  const pictures = part === null ? null : picturesOf(source, part, filter);
  const use = (): void => {
    frame.pts = frame.bestEffortTimestamp;
    const sec = secondsOf(frame.pts, source);
    if (frame.pts === AV_NOPTS_VALUE || sec === null) return;
    if (sec < -slackSec || sec > durationMs / 1000 + slackSec) return;
    if (pictures === null) filter(frame);
    else pictures.push(frame);
  };
  return {
    source,
    push: (packet) => decode(decoder, packet, frame, use),
    finish: () => {
      decode(decoder, null, frame, use);
      pictures?.finish();
      graph?.graph.run(null, sink.push);
    },
    close: () => {
      graph?.graph.close();
      pictures?.close();
      decoder.freeContext();
      frame.free();
    },
  };
}

/** At most 720 lines; 4:2:0 needs even numbers. */
function storedSize({ width, height }: { width: number; height: number }): { width: number; height: number } {
  const factor = Math.min(1, maxHeight / height);
  const even = (value: number): number => Math.max(2, Math.round(value / 2) * 2);
  return { width: even(width * factor), height: even(height * factor) };
}

/** Options of the filter that takes the frames of a video. */
export function pictureSource(frame: Frame, { timeBase: { num, den } }: Stream): string {
  return (
    `video_size=${frame.width}x${frame.height}:pix_fmt=${frame.format}:time_base=${num}/${den}:` +
    `pixel_aspect=1/1:colorspace=${frame.colorSpace}:range=${frame.colorRange}`
  );
}

function videoSteps(
  frame: Frame,
  source: Stream,
  { size, timeBase }: VideoSink,
  { startSec, isInterlaced }: { readonly startSec: number | null; readonly isInterlaced: boolean },
): [Step, ...Step[]] {
  const { num, den } = source.timeBase;
  const deinterlace: Step[] = [
    ["yadif", "deint=interlaced"],
    ["settb", `expr=${num}/${den}`],
  ];
  const turns: Readonly<Record<number, Step[]>> = {
    90: [["transpose", "dir=clock"]],
    180: [
      ["hflip", ""],
      ["vflip", ""],
    ],
    270: [["transpose", "dir=cclock"]],
  };
  return [
    ["buffer", pictureSource(frame, source)],
    ...(isInterlaced ? deinterlace : []),
    ...(turns[rotationOf(source)] ?? []),
    ...scaleSteps(size, startSec !== null),
    ["format", "pix_fmts=yuv420p"],
    ["setsar", "1"],
    ...(startSec === null
      ? []
      : ([
          ["settb", `expr=${timeBase.num}/${timeBase.den}`],
          ["setpts", `PTS+${startSec}/TB`],
        ] as const)),
    ["buffersink", ""],
  ];
}

/** A joined video keeps its shape within the size of the first. */
function scaleSteps({ width, height }: VideoSink["size"], isJoined: boolean): Step[] {
  const scale = `w=${width}:h=${height}:flags=bicubic:out_range=tv`;
  if (!isJoined) return [["scale", scale]];
  return [
    ["scale", `${scale}:force_original_aspect_ratio=decrease`],
    ["pad", `w=${width}:h=${height}:x=-1:y=-1`],
  ];
}
