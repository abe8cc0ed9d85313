import {
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_H264,
  AV_PIX_FMT_YUV420P,
  AV_PIX_FMT_YUVJ420P,
} from "node-av/constants";
import type { Stream } from "node-av/lib";
import { fileCause } from "../../../../contract/causes/files.ts";
import type { MediaContainer } from "../../../../shared/files/media-formats.ts";
import type { MediaFacts } from "../../../platform/db/json-columns.ts";
import { MediaFailedError } from "./errors.ts";
import type { Input } from "./libav.ts";

/** Requirement of the contract: video height at most 720, before rotation. */
export const maxHeight = 720;

/** Containers with complete times and codec headers, so that packets can be copied. */
const copied: ReadonlySet<MediaContainer> = new Set(["mp4", "mov", "m4a", "mkv"]);

/** How a file is converted to the stored form. */
export type MediaPlan =
  /** It already has the stored form. */
  | { readonly form: "keep" }
  /** The same packets in another container: lossless, as fast as the disk. */
  | { readonly form: "remux"; readonly to: "mp4"; readonly video: "copy"; readonly audio: "copy" | null }
  | {
      readonly form: "transcode";
      readonly to: "mp4" | "mp3";
      readonly video: "copy" | "encode" | null;
      readonly audio: "copy" | "encode" | null;
    };

/**
 * Stored forms: video is an mp4 with h264 (8 bit, 4:2:0, at most 720 lines) and aac, its index in front; audio is an
 * mp3 in which browsers find every time, so one with a constant bit rate. A video without sound stays without. Keyframes further apart than six seconds are no reason to re-encode: only
 * uploads with a rule about them, which have been checked, and uploads without come here.
 * @throws MediaFailedError when the recording's main track is missing.
 */
export function planMedia(facts: MediaFacts, input: Input): MediaPlan {
  const { video, audio } = input;
  if (facts.mediaType === "audio") {
    if (audio === null)
      throw new MediaFailedError("The file has no audio track.", "", fileCause("audio_track_missing", {}));
    if (facts.container === "mp3" && facts.isStoredForm) return { form: "keep" };
    return { form: "transcode", to: "mp3", video: null, audio: "encode" };
  }
  if (video === null)
    throw new MediaFailedError("The file has no video track.", "", fileCause("video_track_missing", {}));
  const videoForm = isStoredVideo(video, facts.container) ? "copy" : "encode";
  const isStoredAudio = copied.has(facts.container) && audio?.codecpar.codecId === AV_CODEC_ID_AAC;
  const audioForm = audio === null ? null : isStoredAudio ? "copy" : "encode";
  if (videoForm === "encode" || audioForm === "encode") {
    return { form: "transcode", to: "mp4", video: videoForm, audio: audioForm };
  }
  const isStored = facts.container === "mp4" && facts.isStoredForm && facts.isFastStart;
  if (isStored && !hasExtras(input)) return { form: "keep" };
  return { form: "remux", to: "mp4", video: "copy", audio: audioForm };
}

/** Whether a video track can be copied to the stored form. */
export function isStoredVideo(video: Stream, container: MediaContainer): boolean {
  const { codecId, format } = video.codecpar;
  return (
    copied.has(container) &&
    codecId === AV_CODEC_ID_H264 &&
    (format === AV_PIX_FMT_YUV420P || format === AV_PIX_FMT_YUVJ420P) &&
    video.codecpar.height <= maxHeight &&
    // Its header is in the form of mp4; some browsers write another one.
    video.codecpar.extradata?.[0] === 1
  );
}

/** Other tracks, and the location of the recording: users who download a recording must not learn that. */
function hasExtras({ context, video, audio }: Input): boolean {
  const tracks = (video === null ? 0 : 1) + (audio === null ? 0 : 1);
  const tags = Object.keys(context.metadata?.getAll() ?? {});
  return context.nbStreams > tracks || tags.some((tag) => /location|gps|xyz|ISO6709/i.test(tag));
}
