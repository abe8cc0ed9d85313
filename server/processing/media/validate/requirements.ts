import type { Cause } from "../../../../contract/causes/causes.ts";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { MediaExpectation, MediaLimits } from "../facts.ts";
import type { MeasuredMedia } from "./measured.ts";
import { codecName, counted, durationName, sizeName } from "./messages.ts";

/** A media requirement of the contract. */
export type Rule =
  | "container"
  | "video_track"
  | "video_codec"
  | "height"
  | "keyframes"
  | "audio_track"
  | "audio_codec"
  | "decodable"
  | "too_short"
  | "too_long"
  | "size";

export interface BrokenRule {
  readonly rule: Rule;
  /** The measured value, the limit and the remedy, in sentences for users. */
  readonly sentence: string;
  readonly cause: Cause;
}

/** Media requirements of the contract. */
const minDurationSec = 10;
const maxHeight = 720;
const maxKeyframeGapSec = 6;
/** Durations are fractions of the file's clock; a thousandth of a second more or less is accepted. */
const toleranceSec = 0.001;

/** Every violated requirement, in the order in which a user would look. */
export function brokenRules(
  media: MeasuredMedia,
  expectation: MediaExpectation,
  limits: MediaLimits,
): BrokenRule[] {
  const broken = [
    ...formRules(media, expectation),
    ...durationRules(media, limits),
    ...sizeRules(media.sizeBytes, limits),
  ];
  // Two tracks with the same violation need one sentence.
  return broken.filter(
    ({ sentence }, index) => broken.findIndex((other) => other.sentence === sentence) === index,
  );
}

/** Whether the file has the form in which recordings are stored and served, so that it needs no conversion. */
export function isStoredForm(media: MeasuredMedia): boolean {
  if (media.isFragmented || media.isExactlySeekable === false) return false;
  if (media.videos.length === 0) return audioRules(media).length === 0;
  // A recording of the older operation may be silent: no conversion gives it sound.
  return videoRules(media).every(({ rule }) => rule === "audio_track");
}

function formRules(media: MeasuredMedia, expectation: MediaExpectation): BrokenRule[] {
  if (expectation.kind === "video") return videoRules(media);
  if (expectation.kind === "audio") return audioRules(media);
  return [
    ...(expectation.kind === "one_step" ? nameRules(media, expectation.extension) : []),
    ...decodableRules(media),
  ];
}

function videoRules(media: MeasuredMedia): BrokenRule[] {
  return [
    ...rule(
      "container",
      media.container !== "mp4",
      `The file format is ${media.container}; a video must be mp4: convert it.`,
      fileCause("wrong_container", { container: media.container, wanted: "mp4" }),
    ),
    ...rule(
      "video_track",
      media.videos.length === 0,
      "The file has no video track; a video needs exactly one: export it with video, or upload it as audio (mp3).",
      fileCause("video_track_missing", {}),
    ),
    ...rule(
      "video_track",
      media.videos.length > 1,
      `The file has ${media.videos.length} video tracks; exactly one is allowed: remove the others.`,
      fileCause("too_many_video_tracks", { count: media.videos.length }),
    ),
    ...media.videos.flatMap((video) => [
      ...rule(
        "video_codec",
        video.codec !== "h264",
        `The video is encoded as ${codecName(video.codec)}; only H.264 is allowed: convert the video.`,
        fileCause("wrong_video_codec", { codec: codecName(video.codec) }),
      ),
      ...rule(
        "height",
        video.codedHeight > maxHeight,
        `The video is ${video.codedHeight} pixels high${video.rotation % 180 === 90 ? " before it is rotated" : ""}; ` +
          `at most ${maxHeight} are allowed: scale it down.`,
        fileCause("video_too_high", { height: video.codedHeight, max: maxHeight }),
      ),
      ...rule(
        "keyframes",
        video.maxKeyframeGapSec > maxKeyframeGapSec + toleranceSec,
        `The video has ${durationName(video.maxKeyframeGapSec)} without a keyframe; at most ${maxKeyframeGapSec} seconds are allowed: ` +
          "convert the video with a keyframe every 2 seconds.",
        fileCause("keyframes_too_far", { seconds: video.maxKeyframeGapSec, max: maxKeyframeGapSec }),
      ),
    ]),
    ...rule(
      "audio_track",
      media.audios.length === 0,
      "The file has no audio; a video needs an AAC audio track: record it with audio, or add a silent track.",
      fileCause("audio_track_missing", {}),
    ),
    ...media.audios.flatMap((audio) =>
      rule(
        "audio_codec",
        audio.codec !== "aac",
        `The audio is encoded as ${codecName(audio.codec)}; a video must have AAC audio: convert the audio.`,
        fileCause("wrong_audio_codec", { codec: codecName(audio.codec), wanted: "AAC" }),
      ),
    ),
  ];
}

function audioRules(media: MeasuredMedia): BrokenRule[] {
  const codec = media.audios[0]?.codec;
  return [
    ...rule(
      "container",
      media.container !== "mp3",
      `The file format is ${media.container}; audio must be mp3: convert it` +
        `${media.videos.length > 0 ? ", or upload it as video" : ""}.`,
      fileCause("wrong_container", { container: media.container, wanted: "mp3" }),
    ),
    ...rule(
      "audio_track",
      codec === undefined,
      "The file has no audio: record it with audio.",
      fileCause("audio_track_missing", {}),
    ),
    ...rule(
      "audio_codec",
      codec !== undefined && codec !== "mp3",
      `The audio is encoded as ${codecName(codec ?? "")}; only mp3 (MPEG audio layer III) is allowed: convert the audio.`,
      fileCause("wrong_audio_codec", { codec: codecName(codec ?? ""), wanted: "mp3" }),
    ),
  ];
}

/** The older upload operation accepts .mov, .mp4, .mp3 and .m4a, by the name of the file. */
function nameRules({ container }: MeasuredMedia, extension: string): BrokenRule[] {
  return rule(
    "container",
    (container === "mp3") !== (extension === "mp3"),
    `The file name ends in .${extension}, but the content is ${container}: rename the file to end in .${container}.`,
    fileCause("extension_differs", { extension, container }),
  );
}

/** Files that are converted need a track that can be decoded. */
function decodableRules(media: MeasuredMedia): BrokenRule[] {
  const tracks = [...media.videos, ...media.audios];
  const codecs = [...new Set(tracks.map(({ codec }) => codecName(codec)))].join(", ");
  return [
    ...rule(
      "decodable",
      tracks.length === 0,
      "The file has neither video nor audio: export the recording again.",
      fileCause("tracks_missing", {}),
    ),
    ...rule(
      "decodable",
      tracks.length > 0 && tracks.every(({ isDecodable }) => !isDecodable),
      `Neither video nor audio can be decoded (${codecs}): convert the recording to H.264 with AAC, or to mp3.`,
      fileCause("not_decodable", { codecs }),
    ),
  ];
}

/** The requirements for the duration, of files of any kind. */
export function durationRules(
  { durationSec }: Pick<MeasuredMedia, "durationSec">,
  limits: MediaLimits,
): BrokenRule[] {
  return [
    ...rule(
      "too_short",
      durationSec < (limits.minDurationSec ?? minDurationSec) - toleranceSec,
      `The recording is ${durationName(durationSec)} long; at least ${limits.minDurationSec ?? minDurationSec} seconds are required: upload a longer one.`,
      fileCause("recording_too_short", {
        seconds: durationSec,
        min: limits.minDurationSec ?? minDurationSec,
      }),
    ),
    ...rule(
      "too_long",
      durationSec > limits.maxDurationSec + toleranceSec,
      `The recording is ${durationName(durationSec)} long; at most ${durationName(limits.maxDurationSec)} are allowed: ` +
        "split it into parts.",
      fileCause("recording_too_long", { seconds: durationSec, max: limits.maxDurationSec }),
    ),
  ];
}

/** The one requirement for files of any kind. */
export function sizeRules(sizeBytes: number, limits: MediaLimits): BrokenRule[] {
  return rule(
    "size",
    sizeBytes > limits.maxBytes,
    `The file is ${sizeName(sizeBytes)}; at most ${sizeName(limits.maxBytes)} are allowed: convert it with a lower bit rate.`,
    fileCause("file_too_big", { bytes: sizeBytes, max: limits.maxBytes }),
  );
}

/** The required form of an upload, for files of another kind. */
export function expectedForm(expectation: MediaExpectation): string {
  if (expectation.kind === "video")
    return `A video must be an mp4 file with one H.264 video track, at most ${maxHeight} pixels high, and AAC audio`;
  if (expectation.kind === "audio") return "Audio must be an mp3 file";
  if (expectation.kind === "any")
    return "A recording must be a video or audio file, such as mp4, mov, mkv, webm, avi, mp3, m4a, wav, flac or ogg";
  return `An upload named .${expectation.extension} must be ${expectation.extension === "mp3" ? "an mp3" : "an mp4, mov or m4a"} file`;
}

/** The violations as the one text that the upload shows. */
export function reasonOf(
  broken: readonly BrokenRule[],
  media: MeasuredMedia,
  expectation: MediaExpectation,
  limits: MediaLimits,
): string {
  const command = repairCommand(new Set(broken.map(({ rule: name }) => name)), media, expectation, limits);
  const sentences = broken.map(({ sentence }) => sentence).join(" ");
  if (command === null) return sentences;
  return `${sentences} ${broken.length === 1 ? "For example" : `To fix all ${counted(broken.length, "problem")} at once, for example`}: ${command}`;
}

/** One ffmpeg command that fixes what can be fixed; null when nothing can, or only the name is wrong. */
function repairCommand(
  broken: ReadonlySet<Rule>,
  media: MeasuredMedia,
  expectation: MediaExpectation,
  limits: MediaLimits,
): string | null {
  const has: HasBroken = (...rules) => rules.some((name) => broken.has(name));
  // Missing duration or pictures cannot be created.
  if (has("too_short") || (has("video_track") && media.videos.length === 0)) return null;
  const isConverted = expectation.kind === "one_step" || expectation.kind === "any";
  const isSound = expectation.kind === "audio" || (isConverted && media.videos.length === 0);
  if (isSound) {
    if (media.audios.length === 0 || (isConverted && !has("too_long", "size"))) return null;
    return soundCommand(has, media, limits);
  }
  if (isConverted && !has("too_long", "size", "decodable")) return null;
  if (media.videos.length === 0 && media.audios.length === 0) return null;
  return videoCommand(has, media, limits, {
    isSilent: media.audios.length === 0 && expectation.kind === "video",
    isConverted,
  });
}

/** Whether one of these rules is broken. */
type HasBroken = (...rules: readonly Rule[]) => boolean;

function cutOption(has: HasBroken, limits: MediaLimits): string {
  return has("too_long") ? ` -t ${limits.maxDurationSec}` : "";
}

/** The bit rate in kbit/s at which a file has the largest allowed size. */
function largestRate(media: MeasuredMedia, limits: MediaLimits): number {
  const seconds = Math.min(media.durationSec, limits.maxDurationSec);
  // A tenth is left for the container.
  return Math.floor((limits.maxBytes * 8 * 0.9) / Math.max(seconds, 1) / 1000);
}

function soundCommand(has: HasBroken, media: MeasuredMedia, limits: MediaLimits): string {
  const rate = has("size") ? Math.max(16, Math.min(128, largestRate(media, limits))) : 128;
  return `ffmpeg -i in.${media.container} -vn${cutOption(has, limits)} -c:a libmp3lame -b:a ${rate}k out.mp3`;
}

/**
 * @param options.isSilent whether the video needs a silent audio track.
 * @param options.isConverted whether the server converts the file anyway.
 */
function videoCommand(
  has: HasBroken,
  media: MeasuredMedia,
  limits: MediaLimits,
  options: { readonly isSilent: boolean; readonly isConverted: boolean },
): string {
  const { isSilent, isConverted } = options;
  const silence = isSilent ? " -f lavfi -i anullsrc=r=48000:cl=mono -shortest" : "";
  const map = isSilent ? " -map 0:v:0 -map 1:a" : media.videos.length > 1 ? " -map 0:v:0 -map 0:a" : "";
  const scale = has("height") ? ` -vf scale=-2:${maxHeight}` : "";
  const rate = has("size") ? ` -b:v ${Math.max(50, largestRate(media, limits) - 128)}k` : "";
  const picture = has("video_codec", "height", "keyframes", "size")
    ? `${scale} -c:v libx264 -pix_fmt yuv420p${rate} -force_key_frames "expr:gte(t,n_forced*2)"`
    : " -c:v copy";
  const sound = isSilent || has("audio_codec") || isConverted ? " -c:a aac" : " -c:a copy";
  return `ffmpeg -i in.${media.container}${silence}${map}${cutOption(has, limits)}${picture}${sound} -movflags +faststart out.mp4`;
}

function rule(name: Rule, isBroken: boolean, sentence: string, cause: Cause): BrokenRule[] {
  return isBroken ? [{ rule: name, sentence, cause }] : [];
}
