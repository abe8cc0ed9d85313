import { plural, t } from "@lingui/core/macro";
import { isTranscript } from "../../../shared/files/file-groups.ts";
import { otherContent, sniff, sniffBytes } from "../../../shared/files/media-content.ts";
import { decodeText } from "../../../shared/files/text-encoding.ts";
import { runAtOnce, TranscriptFileError } from "../../../shared/transcripts/subtitles.ts";
import {
  describeEncoding,
  readTranscriptFile,
  type TranscriptFile,
} from "../../../shared/transcripts/transcript-file.ts";
import type { TranscriptBody } from "../../api/uploads.ts";
import { bytes } from "../../common/format/bytes.ts";
import { clock, lengthInWords } from "../../common/format/time.ts";
import { maxUploadBytes } from "../limits.ts";
import { type MovieIndex, readMovieIndex } from "./movie-index.ts";
import { type MediaProbe, probeMedia } from "./probe-media.ts";
import { textsOf } from "./reader-texts.ts";
import { parseTextTranscript } from "./text-transcript.ts";

/** A text in the language of the reader at the time when it is shown, which may have changed since the check. */
export type ShownText = () => string;

/** The result of checking a file. */
export type FileCheck =
  | { readonly kind: "media"; readonly facts: ShownText }
  | {
      readonly kind: "transcript";
      readonly transcript: TranscriptBody;
      readonly facts: ShownText;
      /** What could not be read of it, and what was assumed. */
      readonly warnings: readonly ShownText[];
    }
  /** Not accepted as is, but the server can convert it. */
  | { readonly kind: "convertible"; readonly reason: ShownText }
  | { readonly kind: "refused"; readonly reason: ShownText; readonly advice: ShownText };

/** Source: contract, "Media requirements". */
const limits = { bytes: maxUploadBytes, height: 720, keyframeGapSec: 6, transcriptBytes: 10_000_000 };
const minDurationSec = 10;

/**
 * Checks a file before upload: its content, whatever its name says, its size, the index of an MP4, and what the browser's player reports. The server
 * checks the rest.
 */
export async function checkFile(file: File): Promise<FileCheck> {
  const extension = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? "";
  if (file.size === 0)
    return refuse(
      () => t`This file is empty.`,
      () => t`Choose it again when it is complete.`,
    );
  if (extension === "txt" || isTranscript(file.name)) return checkTranscript(file, extension);
  const start = new Uint8Array(await file.slice(0, sniffBytes).arrayBuffer());
  const other = otherContent(start);
  if (other !== null)
    return refuse(
      () => t`This looks like ${other}.`,
      () => t`Use a video or audio file, or a transcript such as .vtt, .srt, .ttml, .txt or .json.`,
    );
  if (file.size > limits.bytes)
    return refuse(
      () => {
        const [size, limit] = [bytes(file.size), bytes(limits.bytes)];
        return t`This file is too large: ${size}. The limit is ${limit}.`;
      },
      () => t`Export it at a lower quality, or split it.`,
    );
  const type = sniff(start);
  if (type.family === "converted") {
    const { name } = type;
    return {
      kind: "convertible",
      reason: () =>
        name.includes(extension)
          ? t`We'll convert this .${extension} file.`
          : t`This is ${name}. We'll convert it.`,
    };
  }
  return type.family === "iso" ? checkMovie(file, start, extension) : checkMp3(file);
}

async function checkMp3(file: File): Promise<FileCheck> {
  const probe = await probeMedia(file, "audio");
  return refuseShort(probe) ?? mediaOf(file, probe);
}

/** Checks a file of the mp4 family. */
async function checkMovie(file: File, start: Uint8Array, extension: string): Promise<FileCheck> {
  const probe = await probeMedia(file, extension === "m4a" ? "audio" : "video");
  const short = refuseShort(probe);
  if (short !== null) return short;
  if (extension !== "mp4")
    return {
      kind: "convertible",
      reason: () =>
        extension === "mp3"
          ? t`This is an MP4 file. We'll convert it.`
          : t`We'll convert this .${extension} file.`,
    };
  if (isQuickTime(start))
    return { kind: "convertible", reason: () => t`This is a QuickTime movie. We'll convert it to MP4.` };
  const reason = conversionReason(await readMovieIndex(file), probe?.height ?? 0);
  return reason === null ? mediaOf(file, probe) : { kind: "convertible", reason };
}

function refuseShort(probe: MediaProbe | null): FileCheck | null {
  if (probe === null || probe.durationSec >= minDurationSec) return null;
  return refuse(
    () => {
      const [length, minimum] = [
        lengthInWords(probe.durationSec * 1000),
        lengthInWords(minDurationSec * 1000),
      ];
      return t`This file is too short: ${length}. The minimum is ${minimum}.`;
    },
    () => t`Choose a longer recording.`,
  );
}

function mediaOf(file: File, probe: MediaProbe | null): FileCheck {
  const length = probe === null ? [] : [clock(probe.durationSec * 1000)];
  return { kind: "media", facts: () => [bytes(file.size), ...length].join(" · ") };
}

/**
 * Why an MP4 needs conversion; null if it doesn't.
 * @param shownHeight in pixels, for files whose index has no coded height.
 */
function conversionReason(index: MovieIndex | null, shownHeight: number): ShownText | null {
  if (index?.videoTracks === 0 && index.audio !== null)
    return () => t`This file has sound only. We'll convert it to MP3.`;
  const reason = recodingReason(index, shownHeight);
  if (reason !== null || index?.isFragmented !== true) return reason;
  return () => t`This MP4 is stored in fragments, so we'll convert it.`;
}

/** Why the pictures or the sound must be encoded again; null: they need not. */
function recodingReason(index: MovieIndex | null, shownHeight: number): ShownText | null {
  const height = index?.height ?? shownHeight;
  const { height: maxHeight } = limits;
  if (height > maxHeight)
    return () =>
      plural(height, {
        one: `This video is # pixel high. We'll convert it to at most ${maxHeight}.`,
        other: `This video is # pixels high. We'll convert it to at most ${maxHeight}.`,
      });
  if (index === null || index.video === null) return null;
  if (index.videoTracks > 1)
    return () =>
      plural(index.videoTracks, {
        one: "This file has # video track. We'll convert it and keep the first.",
        other: "This file has # video tracks. We'll convert it and keep the first.",
      });
  if (index.video !== "avc1" && index.video !== "avc3")
    return () => t`This video isn't in H.264, so we'll convert it.`;
  if (index.audio === null) return () => t`This video has no sound, so we'll convert it.`;
  if (!index.isAac) return () => t`The audio isn't in AAC, so we'll convert this video.`;
  const gapSec = index.keyframeGapSec ?? 0;
  return Math.round(gapSec * 10) / 10 > limits.keyframeGapSec
    ? () => t`This video has few keyframes, so seeking can be slow.`
    : null;
}

function refuse(reason: ShownText, advice: ShownText): FileCheck {
  return { kind: "refused", reason, advice };
}

/** Reads a transcript as the server does; text of the API's own format has no times. */
function readTranscript(bytes: Uint8Array, extension: string): TranscriptFile {
  const { language } = navigator;
  if (extension !== "txt") return runAtOnce(readTranscriptFile(bytes, language));
  const { text, encoding, isAssumed } = decodeText(bytes, { language });
  return {
    segments: parseTextTranscript(text),
    unread: { count: 0, first: [] },
    notes: isAssumed ? [describeEncoding(encoding)] : [],
  };
}

function adviceFor(extension: string): string {
  if (extension === "txt") return t`Fix the line and try again.`;
  if (extension === "json") return t`Fix the file and try again.`;
  return t`Export it again as WebVTT or SubRip.`;
}

async function checkTranscript(file: File, extension: string): Promise<FileCheck> {
  if (file.size > limits.transcriptBytes)
    return refuse(
      () => {
        const [size, limit] = [bytes(file.size), bytes(limits.transcriptBytes)];
        return t`This transcript is too large: ${size}. The limit is ${limit}.`;
      },
      () => t`Split it.`,
    );
  try {
    const { segments, notes } = readTranscript(new Uint8Array(await file.arrayBuffer()), extension);
    return {
      kind: "transcript",
      transcript: { language: navigator.language.split("-")[0] || "en", segments },
      facts: () =>
        extension === "txt"
          ? plural(segments.length, {
              one: "# line · times are estimated",
              other: "# lines · times are estimated",
            })
          : plural(segments.length, { one: "# line", other: "# lines" }),
      warnings: await textsOf(notes),
    };
  } catch (error) {
    if (error instanceof TranscriptFileError) {
      const [reason = () => error.message] = await textsOf([error.message]);
      return refuse(reason, () => adviceFor(extension));
    }
    throw error;
  }
}

/** Whether a file of the mp4 family is a QuickTime movie: by its brand, or without one (ISO/IEC 14496-12, 4.3). */
function isQuickTime(start: Uint8Array): boolean {
  const text = String.fromCharCode(...start.subarray(4, 12));
  return !text.startsWith("ftyp") || text.slice(4) === "qt  ";
}
