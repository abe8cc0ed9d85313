import { plural, t } from "@lingui/core/macro";
import type { FileCauses } from "../../contract/causes/files.ts";
import { lengthText, sizeText, whenText } from "./values.ts";

/** Why an upload failed, and what to do. */
export const fileTexts: { readonly [Code in keyof FileCauses]: (values: FileCauses[Code]) => string } = {
  wrong_container: ({ container, wanted }) =>
    t`The file format is ${container}, but ${wanted} is required. Convert the file.`,
  video_track_missing: () => t`The file has no video. Export it with video, or upload it as audio.`,
  too_many_video_tracks: ({ count }) =>
    plural(count, {
      one: "The file has # video track. Keep only one.",
      other: "The file has # video tracks. Remove all but one.",
    }),
  wrong_video_codec: ({ codec }) =>
    t`The video is encoded as ${codec}, but H.264 is required. Convert the video.`,
  video_too_high: ({ height, max }) =>
    plural(height, {
      one: `The video is # pixel high, but at most ${max} are allowed. Scale it down.`,
      other: `The video is # pixels high, but at most ${max} are allowed. Scale it down.`,
    }),
  keyframes_too_far: ({ max }) =>
    plural(max, {
      one: "The video has more than # second without a keyframe. Convert it with a keyframe every 2 seconds.",
      other:
        "The video has more than # seconds without a keyframe. Convert it with a keyframe every 2 seconds.",
    }),
  audio_track_missing: () => t`The file has no audio. Record it with audio.`,
  wrong_audio_codec: ({ codec, wanted }) =>
    t`The audio is encoded as ${codec}, but ${wanted} is required. Convert the audio.`,
  extension_differs: ({ extension, container }) =>
    t`The file name ends in .${extension}, but the file is ${container}. Rename the file.`,
  tracks_missing: () => t`The file has neither video nor audio. Export the recording again.`,
  not_decodable: ({ codecs }) =>
    t`Neither video nor audio can be decoded (${codecs}). Convert the recording to MP4 with H.264 and AAC, or to MP3.`,
  recording_too_short: ({ seconds, min }) => {
    const [length, limit] = [lengthText(seconds), lengthText(min)];
    return t`The recording is ${length} long, but at least ${limit} are required. Upload a longer one.`;
  },
  recording_too_long: ({ seconds, max }) => {
    const [length, limit] = [lengthText(seconds), lengthText(max)];
    return t`The recording is ${length} long, but at most ${limit} are allowed. Split it into parts.`;
  },
  file_too_big: ({ bytes, max }) => {
    const [size, limit] = [sizeText(bytes), sizeText(max)];
    return t`The file has ${size}, but at most ${limit} are allowed. Convert it with a lower bit rate.`;
  },
  file_empty: () => t`The file is empty. Upload it again.`,
  file_only_zeros: () => t`The file has no content; it was probably not copied in full. Upload it again.`,
  not_a_recording: () =>
    t`The file is not a video or audio file that can be used. If it is a recording, export it as MP4 or MP3.`,
  file_damaged: () =>
    t`The file is damaged. Export or convert the recording again, check that it plays, and upload the new file.`,
  file_incomplete: () => t`The file is incomplete; it was probably cut off. Upload the whole file again.`,
  check_failed: () =>
    t`The file could not be checked; it is probably damaged. Export or convert the recording again, and upload the new file.`,
  processing_too_slow: ({ seconds }) => {
    const limit = lengthText(seconds);
    return t`The file could not be processed within ${limit}. Upload it at a lower resolution.`;
  },
  memory_exceeded: () =>
    t`The file needs more memory than the server allows. Upload it at a lower resolution, or ask your server's administrator.`,
  output_too_large: () => t`The converted file is too large. Upload a shorter recording.`,
  too_many_streams: ({ count, max }) =>
    plural(count, {
      one: `The file consists of # stream, but at most ${max} are read. Split it.`,
      other: `The file consists of # streams one after the other, but at most ${max} are read. Split it.`,
    }),
  codec_unsupported: ({ wanted }) => t`The file's codec is not supported. Export it with ${wanted}.`,
  part_failed: ({ number }) => t`Part ${number} can't be used.`,
  parts_incomplete: () => t`The files did not arrive in full. Upload them again.`,
  only_speaker_tracks: () =>
    t`There are only tracks of speakers, and no recording. Add the recording itself.`,
  file_never_arrived: ({ time }) => {
    const when = whenText(time);
    return t`No file arrived until ${when}, when the upload expired. Upload the file again.`;
  },
  file_expired: ({ time }) => {
    const when = whenText(time);
    return t`The upload was not reviewed until ${when}, when its file expired. Upload the file again.`;
  },
  never_finished: ({ minutes }) => {
    const limit = lengthText(minutes * 60);
    return t`The server could not finish this upload within ${limit}. The file may not be the cause: upload it again. If that fails too, contact your server's administrator.`;
  },
  stopped_by_admin: () =>
    t`The server could not process this upload, and an admin stopped further attempts. The file may not be the cause: upload it again.`,
  creator_deactivated: () =>
    t`The account of the user who uploaded this was deactivated, so it did not become a recording.`,
  data_unfit: () =>
    t`The recording could not be stored. Check its title, participants and transcript, and upload it again.`,
  file_removed: () => t`The file was removed before it became a recording. Upload it again.`,
};
