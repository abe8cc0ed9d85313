import {
  AV_CHANNEL_LAYOUT_MONO,
  AV_CODEC_FLAG_FRAME_DURATION,
  AV_PICTURE_TYPE_I,
  AV_PICTURE_TYPE_NONE,
  AV_PIX_FMT_YUV420P,
  AV_SAMPLE_FMT_FLTP,
  AVCOL_PRI_BT709,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_TRC_BT709,
} from "node-av/constants";
import { Rational } from "node-av/lib";
import { type Encoder, openEncoder } from "../../server/processing/media/render/encode/encoder.ts";
import { type Output, openOutput } from "../../server/processing/media/render/encode/output.ts";
import { check, checkWrite, newFrame, setOptions } from "../../server/processing/media/render/libav.ts";
import { durationOf, slideTimes } from "../content/timeline.ts";
import type { DemoMeeting, DemoSegment } from "../content/types.ts";
import { createCanvas, type RenderedScene, renderScene } from "./canvas.ts";
import { frame, gridScene, maxLevel, slideScene, titleScene, visibleParticipants } from "./scene.ts";
import { loudnessPerSec, sampleRate, synthesizeSpeech } from "./voice.ts";

const framesPerSec = 10;
/** How long the title is shown; the first line starts half a second later. */
const titleMs = 1000;
/** Players seek to keyframes, and storyboards consist of them. */
const keyframeEverySec = 5;
/** A pause this short does not end a speaker's turn. */
const holdMs = 350;
/** How many tiles fit beside a slide. */
const maxBesideSlide = 5;

/** Keys of speakers with low voices. */
const lowVoices: ReadonlySet<string> = new Set(
  "piotr seun rafael samir lukas kenji erik dougal mateus yannick loic holger jens thomas".split(" "),
);

/** A scene and when it starts. */
interface Shot {
  readonly startMs: number;
  readonly scene: RenderedScene;
}

/**
 * Renders a sample meeting as an mp4 with a tile for each participant, highlighted while they speak, and the slides; or
 * as an mp3. Deterministic: the same meeting gives the same bytes.
 * @throws if encoding or writing the file fails.
 */
export async function renderMeeting(meeting: DemoMeeting, path: string): Promise<void> {
  const durationMs = durationOf(meeting.segments);
  const { samples, loudness } = synthesizeSpeech(meeting.segments, { durationMs, lowVoices });
  const isVideo = meeting.media === "video";
  const output = openOutput(path, isVideo ? "mp4" : "mp3");
  const picture = isVideo ? openPicture(output) : null;
  const sound = openSound(output, isVideo ? "aac" : "libmp3lame");
  if (isVideo) setOptions(output.context, { movflags: "+faststart" });
  checkWrite(output.context.writeHeaderSync(null), "write the header");

  const shots = isVideo ? await renderShots(meeting) : [];
  const speakerAt = trackSpeaker(meeting.segments);
  const canvas = createCanvas();
  let shot = -1;
  const frameCount = Math.ceil((durationMs * framesPerSec) / 1000);
  for (let n = 0; n < frameCount; n++) {
    const atMs = (n * 1000) / framesPerSec;
    if (picture !== null) {
      const before = shot;
      while ((shots[shot + 1]?.startMs ?? Number.POSITIVE_INFINITY) <= atMs) shot += 1;
      const scene = shots[shot]?.scene;
      const loud = loudness[Math.floor((atMs * loudnessPerSec) / 1000)] ?? 0;
      const level = Math.min(maxLevel, 1 + Math.floor(loud * 1.15 * maxLevel));
      if (scene !== undefined) canvas.show(scene, speakerAt(atMs), level);
      picture.push(canvas.planes, n, shot !== before);
    }
    sound.upTo(samples, ((n + 1) * sampleRate) / framesPerSec);
  }
  sound.finish(samples);
  picture?.finish();
  checkWrite(output.context.writeTrailerSync(), "write the index");
  output.context.flushSync();
  checkWrite(output.context.pb?.error ?? 0, "write the file");
  output.context.closeOutputSync();
}

/** The shots: the title, the grid of participants, and each slide. */
async function renderShots(meeting: DemoMeeting): Promise<Shot[]> {
  const { title, segments } = meeting;
  const participants = visibleParticipants(meeting);
  const grid = await renderScene(gridScene(title, participants));
  const shots: Shot[] = [
    { startMs: 0, scene: await renderScene(titleScene(title, meeting.meetingType)) },
    { startMs: titleMs, scene: grid },
  ];
  for (const { slide, startMs, endMs } of slideTimes(meeting)) {
    const spokenMs = new Map<string, number>([[slide.by, Number.POSITIVE_INFINITY]]);
    for (const { key, start, end } of segments.filter(
      (segment) => segment.start < endMs && segment.end > startMs,
    ))
      spokenMs.set(key, (spokenMs.get(key) ?? 0) + end - start);
    const beside = [...participants]
      .sort((a, b) => (spokenMs.get(b.key) ?? 0) - (spokenMs.get(a.key) ?? 0))
      .slice(0, maxBesideSlide);
    shots.push(
      { startMs, scene: await renderScene(slideScene(title, beside, slide)) },
      { startMs: endMs, scene: grid },
    );
  }
  // Between two consecutive slides the grid is not shown.
  return shots.filter((shot, i) => shots[i + 1]?.startMs !== shot.startMs);
}

/** Returns the key of the speaker at a time; call it with increasing times. */
function trackSpeaker(segments: readonly DemoSegment[]): (atMs: number) => string | null {
  let next = 0;
  return (atMs) => {
    while ((segments[next]?.end ?? Number.POSITIVE_INFINITY) + holdMs < atMs) next += 1;
    const following = segments[next + 1];
    if (following !== undefined && following.start <= atMs) next += 1;
    const segment = segments[next];
    return segment !== undefined && segment.start <= atMs ? segment.key : null;
  };
}

function openPicture(output: Output) {
  const encoder = openEncoder(
    output,
    "libx264",
    // Mostly still images: slower presets take four times as long for a file a fifth smaller.
    { preset: "ultrafast", crf: 27, threads: 1, "forced-idr": 1 },
    (context) => {
      context.width = frame.width;
      context.height = frame.height;
      context.pixelFormat = AV_PIX_FMT_YUV420P;
      context.sampleAspectRatio = new Rational(1, 1);
      context.timeBase = new Rational(1, framesPerSec);
      context.framerate = new Rational(framesPerSec, 1);
      context.gopSize = framesPerSec * keyframeEverySec;
      context.colorRange = AVCOL_RANGE_MPEG;
      context.colorSpace = AVCOL_SPC_BT709;
      context.colorPrimaries = AVCOL_PRI_BT709;
      context.colorTrc = AVCOL_TRC_BT709;
      context.setFlags(AV_CODEC_FLAG_FRAME_DURATION);
    },
  );
  let sinceKey = 0;
  return {
    push(planes: Buffer, n: number, isNew: boolean): void {
      const picture = newFrame();
      picture.width = frame.width;
      picture.height = frame.height;
      picture.format = AV_PIX_FMT_YUV420P;
      check(picture.getBuffer(0), "allocate a picture");
      check(picture.fromBuffer(planes), "fill a picture");
      picture.pts = BigInt(n);
      picture.duration = 1n;
      sinceKey = isNew || sinceKey + 1 >= framesPerSec * keyframeEverySec ? 0 : sinceKey + 1;
      picture.pictType = sinceKey === 0 ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
      encoder.push(picture);
      picture.free();
    },
    finish: () => end(encoder),
  };
}

function openSound(output: Output, codec: "aac" | "libmp3lame") {
  const isAac = codec === "aac";
  const size = isAac ? 1024 : 576;
  const encoder = openEncoder(output, codec, isAac ? { aac_coder: "fast" } : {}, (context) => {
    context.sampleRate = sampleRate;
    context.sampleFormat = AV_SAMPLE_FMT_FLTP;
    context.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    context.bitRate = 40_000n;
    context.timeBase = new Rational(1, sampleRate);
  });
  let at = 0;
  const push = (samples: Float32Array): void => {
    const piece = new Float32Array(size);
    piece.set(samples.subarray(at, at + size));
    const sound = newFrame();
    sound.format = AV_SAMPLE_FMT_FLTP;
    sound.sampleRate = sampleRate;
    sound.channelLayout = AV_CHANNEL_LAYOUT_MONO;
    sound.nbSamples = size;
    check(sound.getBuffer(0), "allocate a sound frame");
    check(sound.fromBuffer(Buffer.from(piece.buffer)), "fill a sound frame");
    sound.pts = BigInt(at);
    encoder.push(sound);
    sound.free();
    at += size;
  };
  return {
    /** Encodes up to a sample, so that sound and picture are interleaved in the file. */
    upTo(samples: Float32Array, end: number): void {
      while (at + size <= Math.min(end, samples.length)) push(samples);
    },
    finish(samples: Float32Array): void {
      if (at < samples.length) push(samples);
      end(encoder);
    },
  };
}

function end(encoder: Encoder): void {
  encoder.push(null);
  encoder.close();
}
