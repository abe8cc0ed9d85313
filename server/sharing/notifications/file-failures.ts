import type { Cause } from "../../../contract/causes/causes.ts";
import type { FileCauses } from "../../../contract/causes/files.ts";
import { lengthIn, sizeIn } from "../../../shared/quantities.ts";
import type { I18n } from "../../platform/language/i18n.ts";
import { writtenTime } from "../../platform/language/written-time.ts";

/** Why an upload failed, and what to do, as the web app says it. */
const texts: { readonly [Code in keyof FileCauses]: (i18n: I18n, values: FileCauses[Code]) => string } = {
  wrong_container: (i18n, { container, wanted }) =>
    i18n.t("The file format is {container}, but {wanted} is required. Convert the file.", {
      container,
      wanted,
    }),
  video_track_missing: (i18n) =>
    i18n.t("The file has no video. Export it with video, or upload it as audio."),
  too_many_video_tracks: (i18n, { count }) =>
    i18n.t(
      "{count, plural, one {The file has # video track. Keep only one.} other {The file has # video tracks. Remove all but one.}}",
      { count },
    ),
  wrong_video_codec: (i18n, { codec }) =>
    i18n.t("The video is encoded as {codec}, but H.264 is required. Convert the video.", { codec }),
  video_too_high: (i18n, { height, max }) =>
    i18n.t(
      "{height, plural, one {The video is # pixel high, but at most {max} are allowed. Scale it down.} other {The video is # pixels high, but at most {max} are allowed. Scale it down.}}",
      {
        height,
        max,
      },
    ),
  keyframes_too_far: (i18n, { max }) =>
    i18n.t(
      "{max, plural, one {The video has more than # second without a keyframe. Convert it with a keyframe every 2 seconds.} other {The video has more than # seconds without a keyframe. Convert it with a keyframe every 2 seconds.}}",
      { max },
    ),
  audio_track_missing: (i18n) => i18n.t("The file has no audio. Record it with audio."),
  wrong_audio_codec: (i18n, { codec, wanted }) =>
    i18n.t("The audio is encoded as {codec}, but {wanted} is required. Convert the audio.", {
      codec,
      wanted,
    }),
  extension_differs: (i18n, { extension, container }) =>
    i18n.t("The file name ends in .{extension}, but the file is {container}. Rename the file.", {
      extension,
      container,
    }),
  tracks_missing: (i18n) => i18n.t("The file has neither video nor audio. Export the recording again."),
  not_decodable: (i18n, { codecs }) =>
    i18n.t(
      "Neither video nor audio can be decoded ({codecs}). Convert the recording to MP4 with H.264 and AAC, or to MP3.",
      { codecs },
    ),
  recording_too_short: (i18n, { seconds, min }) => {
    const [length, limit] = [lengthIn(i18n.language, seconds), lengthIn(i18n.language, min)];
    return i18n.t("The recording is {length} long, but at least {limit} are required. Upload a longer one.", {
      length,
      limit,
    });
  },
  recording_too_long: (i18n, { seconds, max }) => {
    const [length, limit] = [lengthIn(i18n.language, seconds), lengthIn(i18n.language, max)];
    return i18n.t("The recording is {length} long, but at most {limit} are allowed. Split it into parts.", {
      length,
      limit,
    });
  },
  file_too_big: (i18n, { bytes, max }) => {
    const [size, limit] = [sizeIn(i18n.language, bytes), sizeIn(i18n.language, max)];
    return i18n.t("The file has {size}, but at most {limit} are allowed. Convert it with a lower bit rate.", {
      size,
      limit,
    });
  },
  file_empty: (i18n) => i18n.t("The file is empty. Upload it again."),
  file_only_zeros: (i18n) =>
    i18n.t("The file has no content; it was probably not copied in full. Upload it again."),
  not_a_recording: (i18n) =>
    i18n.t(
      "The file is not a video or audio file that can be used. If it is a recording, export it as MP4 or MP3.",
    ),
  file_damaged: (i18n) =>
    i18n.t(
      "The file is damaged. Export or convert the recording again, check that it plays, and upload the new file.",
    ),
  file_incomplete: (i18n) =>
    i18n.t("The file is incomplete; it was probably cut off. Upload the whole file again."),
  check_failed: (i18n) =>
    i18n.t(
      "The file could not be checked; it is probably damaged. Export or convert the recording again, and upload the new file.",
    ),
  processing_too_slow: (i18n, { seconds }) => {
    const limit = lengthIn(i18n.language, seconds);
    return i18n.t("The file could not be processed within {limit}. Upload it at a lower resolution.", {
      limit,
    });
  },
  memory_exceeded: (i18n) =>
    i18n.t(
      "The file needs more memory than the server allows. Upload it at a lower resolution, or ask your server's administrator.",
    ),
  output_too_large: (i18n) => i18n.t("The converted file is too large. Upload a shorter recording."),
  too_many_streams: (i18n, { count, max }) =>
    i18n.t(
      "{count, plural, one {The file consists of # stream, but at most {max} are read. Split it.} other {The file consists of # streams one after the other, but at most {max} are read. Split it.}}",
      { count, max },
    ),
  codec_unsupported: (i18n, { wanted }) =>
    i18n.t("The file's codec is not supported. Export it with {wanted}.", { wanted }),
  part_failed: (i18n, { number }) => i18n.t("Part {number} can't be used.", { number }),
  parts_incomplete: (i18n) => i18n.t("The files did not arrive in full. Upload them again."),
  only_speaker_tracks: (i18n) =>
    i18n.t("There are only tracks of speakers, and no recording. Add the recording itself."),
  file_never_arrived: (i18n, { time }) => {
    const when = writtenTime(i18n.language, new Date(time), null);
    return i18n.t("No file arrived until {when}, when the upload expired. Upload the file again.", { when });
  },
  file_expired: (i18n, { time }) => {
    const when = writtenTime(i18n.language, new Date(time), null);
    return i18n.t("The upload was not reviewed until {when}, when its file expired. Upload the file again.", {
      when,
    });
  },
  never_finished: (i18n, { minutes }) => {
    const limit = lengthIn(i18n.language, minutes * 60);
    return i18n.t(
      "The server could not finish this upload within {limit}. The file may not be the cause: upload it again. If that fails too, contact your server's administrator.",
      { limit },
    );
  },
  stopped_by_admin: (i18n) =>
    i18n.t(
      "The server could not process this upload, and an admin stopped further attempts. The file may not be the cause: upload it again.",
    ),
  creator_deactivated: (i18n) =>
    i18n.t("The account of the user who uploaded this was deactivated, so it did not become a recording."),
  data_unfit: (i18n) =>
    i18n.t(
      "The recording could not be stored. Check its title, participants and transcript, and upload it again.",
    ),
  file_removed: (i18n) => i18n.t("The file was removed before it became a recording. Upload it again."),
};

/** Why an upload failed; null: its causes are none that this version knows. */
export function failureText(i18n: I18n, causes: readonly Cause[] | null): string | null {
  if (causes === null || causes.length === 0) return null;
  return causes.every(isKnown) ? causes.map((cause) => causeText(i18n, cause)).join(" ") : null;
}

interface KnownCause<Code extends keyof FileCauses> {
  readonly code: Code;
  readonly values: FileCauses[Code];
}

/** Codes never change their meaning, so the values of a known one are those that its text names. */
function isKnown(cause: Cause): cause is Cause & KnownCause<keyof FileCauses> {
  return Object.hasOwn(texts, cause.code);
}

function causeText<Code extends keyof FileCauses>(i18n: I18n, { code, values }: KnownCause<Code>): string {
  return texts[code](i18n, values);
}
