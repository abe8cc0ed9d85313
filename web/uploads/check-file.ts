import type { TranscriptBody } from "../api/uploads.ts";
import { bytes } from "../common/bytes.ts";
import { clock } from "../common/time.ts";
import { glimpse } from "./glimpse.ts";
import { readSubtitles, SubtitleFault } from "./subtitles.ts";

/** What can be done with a chosen file. */
export type Verdict =
  | { readonly kind: "media"; readonly mediaType: "video" | "audio"; readonly facts: string }
  | { readonly kind: "transcript"; readonly transcript: TranscriptBody; readonly facts: string }
  /** Breaks a rule that the server can mend by converting the file. */
  | { readonly kind: "convertible"; readonly format: "mp4" | "mov" | "mp3" | "m4a"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string; readonly advice: string };

/** Contract, "Media requirements"; the server may allow less and says so when the upload begins. */
const most = { bytes: 4_294_967_296, height: 720, transcriptBytes: 10_000_000 };
const leastSec = 10;

const otherMedia = /\.(mkv|webm|avi|wmv|flv|mpe?g|m2ts|ts|m4v|3gp|wav|flac|ogg|opus|aac|wma)$/i;

/**
 * Looks at a file before any of it is sent: name, size, its first bytes, and what the browser's own player says of it.
 * What can't be seen here (codecs, tracks, keyframes) the server checks.
 */
export async function checkFile(file: File): Promise<Verdict> {
  const extension = /\.([^.]+)$/.exec(file.name)?.[1]?.toLowerCase() ?? "";
  if (file.size === 0)
    return refuse("This file is empty.", "Choose it again once the recorder has finished writing it.");
  if (extension === "vtt" || extension === "srt") return checkTranscript(file);
  if (extension !== "mp4" && extension !== "mov" && extension !== "mp3" && extension !== "m4a")
    return refuse(
      otherMedia.test(file.name)
        ? `Files of the type .${extension} are not taken.`
        : "This is no video, audio or transcript file that is taken.",
      "Save or export it as .mp4 (video), .mp3 (audio), or .vtt or .srt (transcript).",
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
  const length = seen === null ? [] : [clock(seen.durationSec * 1000)];
  const mediaType = extension === "mp3" ? "audio" : "video";
  return { kind: "media", mediaType, facts: [bytes(file.size), ...length].join(" · ") };
}

function refuse(reason: string, advice: string): Verdict {
  return { kind: "refused", reason, advice };
}

async function checkTranscript(file: File): Promise<Verdict> {
  if (file.size > most.transcriptBytes)
    return refuse(
      `This transcript has ${bytes(file.size)}; at most ${bytes(most.transcriptBytes)} are taken.`,
      "Cut it into parts.",
    );
  try {
    const segments = readSubtitles(await file.text());
    return {
      kind: "transcript",
      transcript: { language: navigator.language.split("-")[0] || "en", segments },
      facts: `${segments.length} ${segments.length === 1 ? "line" : "lines"}`,
    };
  } catch (error) {
    if (error instanceof SubtitleFault) return refuse(error.message, "Export it anew as WebVTT or SubRip.");
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
