import { fileCause } from "../../../../contract/causes/files.ts";
import { sniff, sniffBytes, zeroBytes } from "../../../../shared/files/media-content.ts";
import type { MediaFacts } from "../../../platform/db/json-columns.ts";
import type { MediaExpectation, MediaLimits, ValidationResult } from "../facts.ts";
import { type Bytes, createProbe } from "./bytes.ts";
import { DamagedFileError } from "./errors.ts";
import type { MeasuredMedia } from "./measured.ts";
import { measureMp3 } from "./mp3/measure.ts";
import { measureIso } from "./mp4/measure.ts";
import { brokenRules, expectedForm, isStoredForm, reasonOf, sizeRules } from "./requirements.ts";

/**
 * Validates a file, in the thread of the caller.
 * @throws ReadFailedError when the file cannot be read; any other error is a bug.
 */
export function examine(bytes: Bytes, expectation: MediaExpectation, limits: MediaLimits): ValidationResult {
  try {
    return resultOf(measure(bytes, expectation), expectation, limits);
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    // The size is the only requirement that can be checked without reading the file.
    const size = sizeRules(bytes.size, limits);
    return {
      ok: false,
      reason: [error.message, ...size.map(({ sentence }) => sentence)].join(" "),
      causes: [error.cause, ...size.map(({ cause }) => cause)],
    };
  }
}

/** Whether a measured file meets the requirements. */
export function resultOf(
  media: MeasuredMedia,
  expectation: MediaExpectation,
  limits: MediaLimits,
): ValidationResult {
  const broken = brokenRules(media, expectation, limits);
  if (broken.length > 0)
    return {
      ok: false,
      reason: reasonOf(broken, media, expectation, limits),
      causes: broken.map(({ cause }) => cause),
      container: media.container,
      detail: describe(media),
    };
  return { ok: true, facts: factsOf(media, expectation) };
}

/** The measured properties that requirements are about, in one line. */
function describe({ durationSec, videos, audios }: MeasuredMedia): string {
  const tracks = [
    ...videos.map(({ codec, width, height }) => `${codec} ${width}x${height}`),
    ...audios.map(({ codec, channels, sampleRate }) => `${codec} ${channels} channels ${sampleRate} Hz`),
  ];
  return `${durationSec.toFixed(3)} s: ${tracks.slice(0, maxDescribed).join(", ") || "no tracks"}`;
}

/** More tracks are not named. */
const maxDescribed = 10;

function measure(bytes: Bytes, expectation: MediaExpectation): MeasuredMedia {
  if (bytes.size === 0)
    throw new DamagedFileError(
      `The file is empty. ${expectedForm(expectation)}: send the file again.`,
      fileCause("file_empty", {}),
    );
  const probe = createProbe(bytes);
  const type = sniff(probe(0, sniffBytes));
  if (type.family === "other" || type.family === "converted") {
    if (type.name === zeroBytes)
      throw new DamagedFileError(
        `The file contains ${zeroBytes}; it was probably not copied in full. ${expectedForm(expectation)}: send the file again.`,
        fileCause("file_only_zeros", {}),
      );
    throw new DamagedFileError(
      `The file looks like ${type.name}. ${expectedForm(expectation)}: ${advice(expectation)}`,
      fileCause("not_a_recording", {}),
    );
  }
  const keepsBeginning = expectation.kind === "any";
  if (type.family === "iso") return measureIso(bytes, probe, { keepsBeginning });
  const isMp3Wanted =
    expectation.kind === "audio" || (expectation.kind === "one_step" && expectation.extension === "mp3");
  try {
    return measureMp3(bytes, probe, { keepsBeginning });
  } catch (error) {
    if (isMp3Wanted || !(error instanceof DamagedFileError)) throw error;
    throw new DamagedFileError(
      `The file type is not recognized. ${expectedForm(expectation)}: ${advice(expectation)}`,
      fileCause("not_a_recording", {}),
    );
  }
}

function advice(expectation: MediaExpectation): string {
  if (expectation.kind === "any") return "if it is a recording, export it in one of these formats.";
  const isSound =
    expectation.kind === "audio" || (expectation.kind === "one_step" && expectation.extension === "mp3");
  return isSound
    ? "if it is a recording, convert it, for example with: ffmpeg -i in -vn -c:a libmp3lame -b:a 128k out.mp3"
    : "if it is a recording, convert it, for example with: ffmpeg -i in -vf \"scale=-2:'min(720,ih)'\" -c:v libx264 " +
        '-pix_fmt yuv420p -force_key_frames "expr:gte(t,n_forced*2)" -c:a aac -movflags +faststart out.mp4';
}

function factsOf(media: MeasuredMedia, expectation: MediaExpectation): MediaFacts {
  const isConverted = expectation.kind === "one_step" || expectation.kind === "any";
  const video = media.videos.find(({ isDecodable }) => isDecodable || !isConverted) ?? null;
  const audios = media.audios.filter(({ isDecodable }) => isDecodable || !isConverted);
  const audio = audios[0] ?? null;
  // Several tracks of several streams are always mixed.
  const parts = media.parts?.map(({ durationSec, ...part }) => ({
    ...part,
    durationMs: Math.round(durationSec * 1000),
    speaker: null,
  }));
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
    ...(parts === undefined ? {} : { parts }),
    ...(expectation.kind === "any" && audios.length > 1 && parts === undefined
      ? {
          audioTracks: audios.map(({ codec, stream, channels, title, language }) => ({
            codec,
            ...(stream === undefined ? {} : { stream }),
            channels,
            title: title ?? null,
            language: language ?? null,
          })),
        }
      : {}),
    ...(media.startedAt === undefined ? {} : { startedAt: media.startedAt }),
    ...(media.title === undefined || expectation.kind !== "any" ? {} : { title: media.title }),
    ...endsEarlyOf(media, expectation),
    isFastStart: media.isFastStart,
    isStoredForm: isStoredForm(media),
  };
}

function endsEarlyOf(
  { endsEarly }: MeasuredMedia,
  { kind }: MediaExpectation,
): Pick<MediaFacts, "endsEarly"> {
  if (endsEarly === undefined || kind !== "any") return {};
  const { expectedSec } = endsEarly;
  return { endsEarly: { expected_ms: expectedSec === null ? null : Math.round(expectedSec * 1000) } };
}
