import type { Judgement, MediaExpectation, MediaFacts, MediaLimits } from "../facts.ts";
import { type Bytes, createGlance } from "./bytes.ts";
import { DamagedFileError } from "./errors.ts";
import type { MeasuredMedia } from "./measured.ts";
import { measureMp3 } from "./mp3/measure.ts";
import { measureIso } from "./mp4/measure.ts";
import { brokenRules, expectedForm, isStoredForm, reasonOf, sizeRules } from "./requirements.ts";
import { lookBytes, sniff } from "./sniff.ts";

/**
 * Judges a file, in the thread of the caller.
 * @throws ReadFailedError when the file cannot be read; anything else it throws is a fault of this code.
 */
export function examine(bytes: Bytes, expectation: MediaExpectation, limits: MediaLimits): Judgement {
  try {
    const media = measure(bytes, expectation);
    const broken = brokenRules(media, expectation, limits);
    if (broken.length > 0) return { ok: false, reason: reasonOf(broken, media, expectation, limits) };
    return { ok: true, facts: factsOf(media, expectation) };
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    // Of the rules, size alone can be told of a file that cannot be read.
    const size = sizeRules(bytes.size, limits).map(({ sentence }) => sentence);
    return { ok: false, reason: [error.message, ...size].join(" ") };
  }
}

function measure(bytes: Bytes, expectation: MediaExpectation): MeasuredMedia {
  if (bytes.size === 0)
    throw new DamagedFileError(`The file is empty. ${expectedForm(expectation)}: send the file again.`);
  const glance = createGlance(bytes);
  const look = sniff(glance(0, lookBytes));
  if (look.family === "other") {
    const isZeros = look.name.includes("zero bytes");
    throw new DamagedFileError(
      `The file ${isZeros ? "holds" : "looks like"} ${look.name}. ${expectedForm(expectation)}: ` +
        (isZeros ? "it was probably not copied in full, send it again." : advice(expectation)),
    );
  }
  if (look.family === "iso") return measureIso(bytes, glance);
  const isMp3Wanted =
    expectation.kind === "audio" || (expectation.kind === "one_step" && expectation.extension === "mp3");
  try {
    return measureMp3(bytes);
  } catch (error) {
    if (isMp3Wanted || !(error instanceof DamagedFileError)) throw error;
    throw new DamagedFileError(
      `The file is of no kind that is known here. ${expectedForm(expectation)}: ${advice(expectation)}`,
    );
  }
}

function advice(expectation: MediaExpectation): string {
  const isSound =
    expectation.kind === "audio" || (expectation.kind === "one_step" && expectation.extension === "mp3");
  return isSound
    ? "if it is a recording, convert it, for example with: ffmpeg -i in -vn -c:a libmp3lame -b:a 128k out.mp3"
    : "if it is a recording, convert it, for example with: ffmpeg -i in -vf \"scale=-2:'min(720,ih)'\" -c:v libx264 " +
        '-pix_fmt yuv420p -force_key_frames "expr:gte(t,n_forced*2)" -c:a aac -movflags +faststart out.mp4';
}

function factsOf(media: MeasuredMedia, expectation: MediaExpectation): MediaFacts {
  const isOneStep = expectation.kind === "one_step";
  const video = media.videos.find(({ isDecodable }) => isDecodable || !isOneStep) ?? null;
  const audio = media.audios.find(({ isDecodable }) => isDecodable || !isOneStep) ?? null;
  return {
    container: media.container,
    mediaType: video === null ? "audio" : "video",
    durationMs: Math.round(media.durationSec * 1000),
    sizeBytes: media.sizeBytes,
    video: video && {
      codec: video.codec,
      width: video.width,
      height: video.height,
      rotation: video.rotation,
      maxKeyframeGapMs: Math.round(video.maxKeyframeGapSec * 1000),
    },
    audio: audio && { codec: audio.codec, channels: audio.channels, sampleRate: audio.sampleRate },
    isFastStart: media.isFastStart,
    isStoredForm: isStoredForm(media),
  };
}
