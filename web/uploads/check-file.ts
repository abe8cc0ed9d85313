import type { TranscriptBody } from "../api/uploads.ts";
import { bytes } from "../common/bytes.ts";
import { clock } from "../common/time.ts";
import { glimpse } from "./glimpse.ts";
import { readMovieIndex } from "./movie-index.ts";
import { readSubtitles, type Segment, SubtitleFault } from "./subtitles.ts";
import { readJson, readPlainText } from "./written.ts";

/** What can be done with a chosen file. */
export type Verdict =
  | { readonly kind: "media"; readonly mediaType: "video" | "audio"; readonly facts: string }
  | { readonly kind: "transcript"; readonly transcript: TranscriptBody; readonly facts: string }
  /** Breaks a rule that the server can mend by converting the file. */
  | { readonly kind: "convertible"; readonly format: "mp4" | "mov" | "mp3" | "m4a"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string; readonly advice: string };

/** Contract, "Media requirements"; the server may allow less and says so when the upload begins. */
const most = { bytes: 4_294_967_296, height: 720, keyframeGapSec: 6, transcriptBytes: 10_000_000 };
const leastSec = 10;

const otherMedia = /\.(mkv|webm|avi|wmv|flv|mpe?g|m2ts|ts|m4v|3gp|wav|flac|ogg|opus|aac|wma)$/i;

/**
 * Looks at a file before any of it is sent: name, size, its first bytes, the index of an MP4, and what the browser's own
 * player says of it. What can't be seen here the server checks.
 */
export async function checkFile(file: File): Promise<Verdict> {
  const extension = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? "";
  if (file.size === 0)
    return refuse("This file is empty.", "Choose it again once the recorder has finished writing it.");
  const read = readers[extension];
  if (read !== undefined) return checkTranscript(file, read);
  if (extension !== "mp4" && extension !== "mov" && extension !== "mp3" && extension !== "m4a")
    return refuse(
      otherMedia.test(file.name)
        ? `Files of the type .${extension} are not taken.`
        : "This is no video, audio or transcript file that is taken.",
      "Save or export it as .mp4 (video), .mp3 (audio), or .vtt, .srt, .txt or .json (transcript).",
    );
  if (file.size > most.bytes)
    return refuse(
      `This file has ${bytes(file.size)}; at most ${bytes(most.bytes)} are taken.`,
      "Export it at a lower quality, or cut it into parts.",
    );
  const container = await findContainer(file);
  const isMp4 = container === "mp4" || container === "quicktime";
  if (extension === "mp3" ? container !== "mp3" : !isMp4)
    return refuse(
      `The name ends in .${extension}, but what is in the file is something else.`,
      "Export it anew as .mp4 or .mp3; a new name alone does not change what a file is.",
    );
  const seen = await glimpse(file, extension === "mp3" || extension === "m4a" ? "audio" : "video");
  if (seen !== null && seen.durationSec < leastSec)
    return refuse(
      `It is ${seen.durationSec.toFixed(1)} seconds long; recordings have at least ${leastSec}.`,
      "Choose a longer recording.",
    );
  if (extension === "mov" || extension === "m4a")
    return {
      kind: "convertible",
      format: extension,
      reason: `Files of the type .${extension} are converted.`,
    };
  if (container === "quicktime")
    return { kind: "convertible", format: "mov", reason: "In this file is a QuickTime movie, not an MP4." };
  if (seen !== null && seen.height > most.height)
    return {
      kind: "convertible",
      format: "mp4",
      reason: `The picture is ${seen.height} pixels high; at most ${most.height} are kept as they are.`,
    };
  const fault = extension === "mp4" ? await findMendableFault(file) : null;
  if (fault !== null) return { kind: "convertible", format: "mp4", reason: fault };
  const length = seen === null ? [] : [clock(seen.durationSec * 1000)];
  const mediaType = extension === "mp3" ? "audio" : "video";
  return { kind: "media", mediaType, facts: [bytes(file.size), ...length].join(" · ") };
}

/** What breaks a rule in an MP4 that would else fail on the server, and that converting mends; null where nothing does. */
async function findMendableFault(file: File): Promise<string | null> {
  const index = await readMovieIndex(file);
  if (index === null || index.video === null) return null;
  if (index.video !== "avc1" && index.video !== "avc3") return "The picture is not in H.264.";
  if (index.audio === null) return "It has no sound.";
  if (index.audio !== "mp4a") return "The sound is not in AAC.";
  const gapSec = index.keyframeGapSec ?? 0;
  return Math.round(gapSec * 10) / 10 > most.keyframeGapSec
    ? `There are up to ${Math.round(gapSec)} seconds between two keyframes, which makes jumping slow; at most ${most.keyframeGapSec} are kept as they are.`
    : null;
}

function refuse(reason: string, advice: string): Verdict {
  return { kind: "refused", reason, advice };
}

/** Reads a transcript; what it throws says what is wrong, and the advice what to do. */
interface Reader {
  readonly read: (text: string) => Segment[];
  readonly advice: string;
  readonly hasTimes: boolean;
}

const subtitles: Reader = {
  read: readSubtitles,
  advice: "Export it anew as WebVTT or SubRip.",
  hasTimes: true,
};
const readers: Readonly<Record<string, Reader | undefined>> = {
  vtt: subtitles,
  srt: subtitles,
  txt: { read: readPlainText, advice: "Mend that line, and choose the file again.", hasTimes: false },
  json: { read: readJson, advice: "Mend it, and choose the file again.", hasTimes: true },
};

async function checkTranscript(file: File, reader: Reader): Promise<Verdict> {
  if (file.size > most.transcriptBytes)
    return refuse(
      `This transcript has ${bytes(file.size)}; at most ${bytes(most.transcriptBytes)} are taken.`,
      "Cut it into parts.",
    );
  try {
    const segments = reader.read(await file.text());
    return {
      kind: "transcript",
      transcript: { language: navigator.language.split("-")[0] || "en", segments },
      facts: `${segments.length} ${segments.length === 1 ? "line" : "lines"}${
        reader.hasTimes ? "" : " · times are guessed, as a .txt has none"
      }`,
    };
  } catch (error) {
    if (error instanceof SubtitleFault) return refuse(error.message, reader.advice);
    throw error;
  }
}

/** What a file is by its first bytes: ISO/IEC 14496-12, 4.3 (`ftyp`) and the frame header of ISO/IEC 11172-3. */
async function findContainer(file: File): Promise<"mp4" | "quicktime" | "mp3" | null> {
  const head = new Uint8Array(await file.slice(0, 12).arrayBuffer());
  const text = String.fromCharCode(...head);
  if (text.slice(4, 8) === "ftyp") return text.slice(8, 12) === "qt  " ? "quicktime" : "mp4";
  // Movies from before there was an ftyp box begin with one of these.
  if (["moov", "mdat", "wide", "free", "skip"].includes(text.slice(4, 8))) return "quicktime";
  const isFrame = head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0 && ((head[1] ?? 0) & 0x06) === 0x02;
  return text.startsWith("ID3") || isFrame ? "mp3" : null;
}
