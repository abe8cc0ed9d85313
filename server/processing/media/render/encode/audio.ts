import { AV_CHANNEL_LAYOUT_MONO, AV_CHANNEL_LAYOUT_STEREO, AV_SAMPLE_FMT_FLTP } from "node-av/constants";
import { avChannelLayoutDescribe, avGetSampleFmtName, type Frame, Rational, type Stream } from "node-av/lib";
import { decodeRemedy, MediaFailedError } from "../errors.ts";
import { decode, newFrame, openDecoder, secondsOf } from "../libav.ts";
import type { Part } from "../part.ts";
import { openEncoder } from "./encoder.ts";
import { type Graph, openGraph, type Step } from "./graph.ts";
import type { Output, Track } from "./output.ts";

const bitsPerSecondAndChannel = 64_000;
/** How far outside the recording a damaged file may place audio. */
const slackSec = 5;

/**
 * Encodes a track as aac or mp3: one channel or two, 44.1 or 48 kHz, 64 kbit/s each; gaps become silence.
 * @param options.part only this part, with times from its start. A video part without audio gets none.
 */
export function encodeAudio(
  source: Stream,
  output: Output,
  { codec, durationMs, part = null }: { codec: "aac" | "libmp3lame"; durationMs: number; part?: Part | null },
): Track {
  const decoder = openDecoder(source, 1);
  const isMono = source.codecpar.channels === 1;
  const sampleRate = source.codecpar.sampleRate % 11_025 === 0 ? 44_100 : 48_000;
  const layout = isMono ? AV_CHANNEL_LAYOUT_MONO : AV_CHANNEL_LAYOUT_STEREO;
  // LAME at 7 takes 0.4 of the time of its default of 5, at which an hour would not be done in 36 seconds.
  const options = codec === "libmp3lame" ? { compression_level: 7 } : {};
  const encoder = openEncoder(output, codec, options, (context) => {
    context.sampleRate = sampleRate;
    context.sampleFormat = AV_SAMPLE_FMT_FLTP;
    context.channelLayout = layout;
    context.bitRate = BigInt(bitsPerSecondAndChannel * (isMono ? 1 : 2));
    context.timeBase = new Rational(1, sampleRate);
  });
  const target = {
    sampleRate,
    layout: isMono ? "mono" : "stereo",
    frameSize: codec === "aac" ? 1024 : 1152,
    part,
  };
  const frame = newFrame();
  let graph: { key: string; graph: Graph } | null = null;
  let lastPts: bigint | null = null;

  const encode = (out: Frame): void => {
    if (lastPts !== null && out.pts <= lastPts) return;
    lastPts = out.pts;
    encoder.push(out);
  };
  const use = (): void => {
    frame.pts = frame.bestEffortTimestamp;
    const sec = secondsOf(frame.pts, source);
    if (sec !== null && (sec < -slackSec || sec > durationMs / 1000 + slackSec)) return;
    const layoutName = avChannelLayoutDescribe(frame.channelLayout);
    const key = `${frame.sampleRate}:${frame.format}:${layoutName}`;
    if (graph?.key !== key) {
      graph?.graph.run(null, encode);
      graph?.graph.close();
      graph = { key, graph: openGraph(audioSteps(frame, source, layoutName ?? "stereo", target)) };
    }
    graph.graph.run(frame, encode);
  };
  return {
    source,
    push: (packet) => decode(decoder, packet, frame, use),
    finish: () => {
      decode(decoder, null, frame, use);
      graph?.graph.run(null, encode);
      if (lastPts === null && (part === null || codec === "libmp3lame")) {
        throw new MediaFailedError(`The audio can't be decoded: all of it is damaged. ${decodeRemedy}`);
      }
      encoder.push(null);
    },
    close: () => {
      graph?.graph.close();
      encoder.close();
      decoder.freeContext();
      frame.free();
    },
  };
}

function audioSteps(
  frame: Frame,
  source: Stream,
  layoutName: string,
  target: { sampleRate: number; layout: string; frameSize: number; part: Part | null },
): [Step, ...Step[]] {
  const { num, den } = source.timeBase;
  const format = avGetSampleFmtName(frame.format as Parameters<typeof avGetSampleFmtName>[0]);
  return [
    [
      "abuffer",
      `time_base=${num}/${den}:sample_rate=${frame.sampleRate}:sample_fmt=${format}:channel_layout=${layoutName}`,
    ],
    // async=1: missing audio becomes silence, so that it stays in sync with the video.
    ["aresample", `sample_rate=${target.sampleRate}:async=1`],
    ...partSteps(target.part),
    ["aformat", `sample_fmts=fltp:sample_rates=${target.sampleRate}:channel_layouts=${target.layout}`],
    ["asetnsamples", `nb_out_samples=${target.frameSize}:pad=1`],
    ["abuffersink", ""],
  ];
}

/** Cut to the sample: a block of audio may begin before the part and end in it. */
function partSteps(part: Part | null): Step[] {
  if (part === null) return [];
  return [
    ["atrim", `start=${part.startSec}:end=${part.endSec}`],
    ["asetpts", `PTS-${part.startSec}/TB`],
  ];
}
