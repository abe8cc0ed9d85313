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
import { type Encoder, openEncoder } from "../../../server/media/render/encoder.ts";
import { check, checkWrite, newFrame, setOptions } from "../../../server/media/render/libav.ts";
import { type Output, openOutput } from "../../../server/media/render/output.ts";
import { lengthOf, placesOf } from "../script.ts";
import type { DemoMeeting, DemoSegment } from "../types.ts";
import { type Drawn, drawScene, newCanvas } from "./picture.ts";
import { frame, gridScene, loudest, peopleOf, slideScene, titleScene } from "./scene.ts";
import { babble, loudnessPerSec, sampleRate } from "./voice.ts";

const framesPerSec = 10;
/** Half a second before anybody speaks. */
const titleMs = 1000;
/** Players jump to keyframes; storyboards show nothing else. */
const keyframeEverySec = 5;
/** Somebody who takes a breath is still speaking. */
const holdMs = 350;
/** More people than this do not fit beside a slide. */
const mostBesideSlide = 5;

/** Speakers whose voices are low. */
const deepVoices: ReadonlySet<string> = new Set(
  "piotr seun rafael samir lukas kenji erik dougal mateus yannick loic holger jens thomas".split(" "),
);

/** What is seen, from a moment on. */
interface Shot {
  readonly startMs: number;
  readonly drawn: Drawn;
}

/**
 * Makes the recording of a sample meeting: an mp4 with a tile for each person, lit while that one speaks, and the slides
 * that are shown; or an mp3. The same meeting gives the same file.
 * @throws when the libraries can't encode, or the file can't be written.
 */
export async function makeFilm(meeting: DemoMeeting, path: string): Promise<void> {
  const durationMs = lengthOf(meeting.segments);
  const { samples, loudness } = babble(meeting.segments, { durationMs, deepVoices });
  const isVideo = meeting.media === "video";
  const output = openOutput(path, isVideo ? "mp4" : "mp3");
  const picture = isVideo ? openPicture(output) : null;
  const sound = openSound(output, isVideo ? "aac" : "libmp3lame");
  if (isVideo) setOptions(output.context, { movflags: "+faststart" });
  checkWrite(output.context.writeHeaderSync(null), "write the header");

  const shots = isVideo ? await draw(meeting) : [];
  const speakerAt = followSpeakers(meeting.segments);
  const canvas = newCanvas();
  let shot = -1;
  const lastFrame = Math.ceil((durationMs * framesPerSec) / 1000);
  for (let n = 0; n < lastFrame; n++) {
    const atMs = (n * 1000) / framesPerSec;
    if (picture !== null) {
      const before = shot;
      while ((shots[shot + 1]?.startMs ?? Number.POSITIVE_INFINITY) <= atMs) shot += 1;
      const drawn = shots[shot]?.drawn;
      const loud = loudness[Math.floor((atMs * loudnessPerSec) / 1000)] ?? 0;
      const level = Math.min(loudest, 1 + Math.floor(loud * 1.15 * loudest));
      if (drawn !== undefined) canvas.show(drawn, speakerAt(atMs), level);
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

/** The shots of a film: its title, everybody, and each slide. */
async function draw(meeting: DemoMeeting): Promise<Shot[]> {
  const { title, segments } = meeting;
  const people = peopleOf(meeting);
  const grid = await drawScene(gridScene(title, people));
  const shots: Shot[] = [
    { startMs: 0, drawn: await drawScene(titleScene(title, meeting.meetingType)) },
    { startMs: titleMs, drawn: grid },
  ];
  for (const { slide, startMs, endMs } of placesOf(meeting)) {
    const spoken = new Map<string, number>([[slide.by, Number.POSITIVE_INFINITY]]);
    for (const { key, start, end } of segments.filter(
      (segment) => segment.start < endMs && segment.end > startMs,
    ))
      spoken.set(key, (spoken.get(key) ?? 0) + end - start);
    const beside = [...people]
      .sort((a, b) => (spoken.get(b.key) ?? 0) - (spoken.get(a.key) ?? 0))
      .slice(0, mostBesideSlide);
    shots.push(
      { startMs, drawn: await drawScene(slideScene(title, beside, slide)) },
      { startMs: endMs, drawn: grid },
    );
  }
  // Where one slide follows another, nobody is seen in between.
  return shots.filter((shot, i) => shots[i + 1]?.startMs !== shot.startMs);
}

/** Who speaks, asked with times that grow. */
function followSpeakers(segments: readonly DemoSegment[]): (atMs: number) => string | null {
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
    // Still pictures with a few that change: slower presets take four times as long for a fifth less.
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
      check(picture.getBuffer(0), "make room for a picture");
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
    check(sound.getBuffer(0), "make room for sound");
    check(sound.fromBuffer(Buffer.from(piece.buffer)), "fill in sound");
    sound.pts = BigInt(at);
    encoder.push(sound);
    sound.free();
    at += size;
  };
  return {
    /** Encodes up to a sample, so that sound and picture lie beside each other in the file. */
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
