import { formatOf } from "../../../contract/media-formats.ts";
import { parseSubtitles, type Segment, TranscriptFileError } from "../../../contract/subtitles.ts";
import type { TranscriptBody } from "../../api/uploads.ts";
import { bytes } from "../../common/format/bytes.ts";
import { clock } from "../../common/format/time.ts";
import { parseJsonTranscript, parseTextTranscript } from "../../transcript-files/text.ts";
import { maxUploadBytes } from "../limits.ts";
import { type MovieIndex, readMovieIndex } from "./movie-index.ts";
import { probeMedia } from "./probe-media.ts";

/** The result of checking a file. */
export type FileCheck =
  | { readonly kind: "media"; readonly facts: string }
  | { readonly kind: "transcript"; readonly transcript: TranscriptBody; readonly facts: string }
  /** Not accepted as is, but the server can convert it. */
  | { readonly kind: "convertible"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string; readonly advice: string };

/** Source: contract, "Media requirements". */
const limits = { bytes: maxUploadBytes, height: 720, keyframeGapSec: 6, transcriptBytes: 10_000_000 };
const minDurationSec = 10;

/**
 * Checks a file before upload: name, size, first bytes, the index of an MP4, and what the browser's player reports. The server
 * checks the rest.
 */
export async function checkFile(file: File): Promise<FileCheck> {
  const extension = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? "";
  if (file.size === 0) return refuse("This file is empty.", "Choose it again when it is complete.");
  const read = readers[extension];
  if (read !== undefined) return checkTranscript(file, read);
  const format = formatOf(file.name);
  if (format === null)
    return refuse(
      "Unsupported file type.",
      "Use a video or audio file, or .vtt, .srt, .txt or .json (transcript).",
    );
  if (file.size > limits.bytes)
    return refuse(
      `This file is too large: ${bytes(file.size)}. The limit is ${bytes(limits.bytes)}.`,
      "Export it at a lower quality, or split it.",
    );
  if (format !== "mp4" && format !== "mov" && format !== "mp3" && format !== "m4a")
    return { kind: "convertible", reason: `We'll convert this .${format} file.` };
  const container = await findContainer(file);
  const isMp4 = container === "mp4" || container === "quicktime";
  if (extension === "mp3" ? container !== "mp3" : !isMp4)
    return refuse(`This isn't a valid ${extension.toUpperCase()}.`, "Export it again as MP4 or MP3.");
  const probe = await probeMedia(file, extension === "mp3" || extension === "m4a" ? "audio" : "video");
  if (probe !== null && probe.durationSec < minDurationSec)
    return refuse(
      `This file is too short: ${probe.durationSec.toFixed(1)} seconds. The minimum is ${minDurationSec} seconds.`,
      "Choose a longer recording.",
    );
  if (extension === "mov" || extension === "m4a")
    return { kind: "convertible", reason: `We'll convert this .${extension} file.` };
  if (container === "quicktime")
    return { kind: "convertible", reason: "This is a QuickTime movie. We'll convert it to MP4." };
  if (extension === "mp4") {
    const reason = conversionReason(await readMovieIndex(file), probe?.height ?? 0);
    if (reason !== null) return { kind: "convertible", reason };
  }
  const length = probe === null ? [] : [clock(probe.durationSec * 1000)];
  return { kind: "media", facts: [bytes(file.size), ...length].join(" · ") };
}

/**
 * Why an MP4 needs conversion; null if it doesn't.
 * @param shownHeight in pixels, for files whose index has no coded height.
 */
function conversionReason(index: MovieIndex | null, shownHeight: number): string | null {
  if (index?.videoTracks === 0 && index.audio !== null)
    return "This file has sound only. We'll convert it to MP3.";
  const reason = recodingReason(index, shownHeight);
  if (reason !== null || index?.isFragmented !== true) return reason;
  return "This MP4 is stored in fragments, so we'll convert it.";
}

/** Why the pictures or the sound must be encoded again; null: they need not. */
function recodingReason(index: MovieIndex | null, shownHeight: number): string | null {
  const height = index?.height ?? shownHeight;
  if (height > limits.height)
    return `This video is ${height} pixels high. We'll convert it to at most ${limits.height}.`;
  if (index === null || index.video === null) return null;
  if (index.videoTracks > 1)
    return `This file has ${index.videoTracks} video tracks. We'll convert it and keep the first.`;
  if (index.video !== "avc1" && index.video !== "avc3")
    return "This video isn't in H.264, so we'll convert it.";
  if (index.audio === null) return "This video has no sound, so we'll convert it.";
  if (!index.isAac) return "The audio isn't in AAC, so we'll convert this video.";
  const gapSec = index.keyframeGapSec ?? 0;
  return Math.round(gapSec * 10) / 10 > limits.keyframeGapSec
    ? "This video has few keyframes, so seeking can be slow."
    : null;
}

function refuse(reason: string, advice: string): FileCheck {
  return { kind: "refused", reason, advice };
}

/** A transcript parser, and the advice for files it rejects. */
interface Reader {
  readonly read: (text: string) => Segment[];
  readonly advice: string;
  readonly hasTimes: boolean;
}

const subtitles: Reader = {
  read: parseSubtitles,
  advice: "Export it again as WebVTT or SubRip.",
  hasTimes: true,
};
const readers: Readonly<Record<string, Reader | undefined>> = {
  vtt: subtitles,
  srt: subtitles,
  txt: { read: parseTextTranscript, advice: "Fix the line and try again.", hasTimes: false },
  json: { read: parseJsonTranscript, advice: "Fix the file and try again.", hasTimes: true },
};

async function checkTranscript(file: File, reader: Reader): Promise<FileCheck> {
  if (file.size > limits.transcriptBytes)
    return refuse(
      `This transcript is too large: ${bytes(file.size)}. The limit is ${bytes(limits.transcriptBytes)}.`,
      "Split it.",
    );
  try {
    const segments = reader.read(await file.text());
    return {
      kind: "transcript",
      transcript: { language: navigator.language.split("-")[0] || "en", segments },
      facts: `${segments.length} ${segments.length === 1 ? "line" : "lines"}${
        reader.hasTimes ? "" : " · times are estimated"
      }`,
    };
  } catch (error) {
    if (error instanceof TranscriptFileError) return refuse(error.message, reader.advice);
    throw error;
  }
}

/** Detects the container from the first bytes: ISO/IEC 14496-12, 4.3 (`ftyp`) and the frame header of ISO/IEC 11172-3. */
async function findContainer(file: File): Promise<"mp4" | "quicktime" | "mp3" | null> {
  const head = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  const text = String.fromCharCode(...head);
  if (text.slice(4, 8) === "ftyp") return text.slice(8, 12) === "qt  " ? "quicktime" : "mp4";
  // Older QuickTime files without an ftyp box start with one of these.
  if (["moov", "mdat", "wide", "free", "skip"].includes(text.slice(4, 8))) return "quicktime";
  const isFrame = head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0 && ((head[1] ?? 0) & 0x06) === 0x02;
  return text.startsWith("ID3") || isFrame ? "mp3" : null;
}
