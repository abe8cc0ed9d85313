import type { ConvertedContainer } from "../../platform/db/json-columns.ts";

/** The type of a file by its first bytes: the family to validate further, or the name of another type. */
export type FileType =
  | { readonly family: "iso" | "mpeg_audio" }
  /** Only uploads that are converted may have it. */
  | { readonly family: "converted"; readonly container: ConvertedContainer; readonly name: string }
  | { readonly family: "other"; readonly name: string };

/** How many bytes to read. Some recorders begin an mp3 with thousands of zero bytes. */
export const sniffBytes = 1 << 16;

/** The name of a file without content. */
export const zeroBytes = "only zero bytes";

const isoBoxes = new Set(["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp", "moof", "uuid"]);
const pictureBrands = /^(heic|heix|hevc|heim|heis|mif1|msf1|avif|avis)$/;

/** Signatures of other file types. */
const beginnings: readonly (readonly [start: string, name: string, container?: ConvertedContainer])[] = [
  ["fLaC", "a FLAC file", "flac"],
  ["OggS", "an Ogg file (Opus or Vorbis sound)", "ogg"],
  ["FORM", "an AIFF file"],
  ["caff", "a Core Audio file"],
  ["#!AMR", "an AMR file", "amr"],
  ["FLV\x01", "a Flash video"],
  ["\x30\x26\xb2\x75", "a Windows Media file (wmv, wma)", "asf"],
  ["\0\0\x01\xba", "an MPEG program stream (mpg, vob)"],
  ["\0\0\x01\xb3", "an MPEG video stream"],
  [".RMF", "a RealMedia file"],
  ["%PDF", "a PDF document"],
  ["PK\x03\x04", "a zip archive, or a document of an office program"],
  ["PK\x05\x06", "an empty zip archive"],
  ["\x1f\x8b", "a gzip archive"],
  ["7z\xbc\xaf", "a 7z archive"],
  ["Rar!", "a RAR archive"],
  ["\xff\xd8\xff", "a JPEG picture"],
  ["\x89PNG", "a PNG picture"],
  ["GIF8", "a GIF picture"],
  ["MThd", "a MIDI file"],
  ["MZ", "a Windows program"],
  ["\x7fELF", "a Linux program"],
];

/**
 * Identifies a file by its first bytes; the file is not empty.
 * @param start at least `sniffBytes` of it, or all.
 */
export function sniff(start: Uint8Array): FileType {
  if (start.every((byte) => byte === 0)) return other(zeroBytes);
  return sniffMedia(start) ?? sniffText(start) ?? { family: "mpeg_audio" };
}

function other(name: string): FileType {
  return { family: "other", name };
}

function converted(container: ConvertedContainer, name: string): FileType {
  return { family: "converted", container, name };
}

/** Identifies a file by the signature of its container; null: it has none that is known. */
function sniffMedia(start: Uint8Array): FileType | null {
  const text = (at: number, length: number): string =>
    String.fromCharCode(...start.subarray(at, at + length));
  if (isoBoxes.has(text(4, 4))) {
    if (text(4, 4) === "ftyp" && pictureBrands.test(text(8, 4))) return other("a HEIF or AVIF picture");
    return { family: "iso" };
  }
  if (text(0, 4) === "\x1a\x45\xdf\xa3")
    return text(0, 64).includes("webm")
      ? converted("webm", "a WebM file")
      : converted("mkv", "a Matroska file (mkv)");
  if (["RIFF", "RF64", "RIFX"].includes(text(0, 4))) {
    if (text(8, 4) === "WAVE") return converted("wav", "a WAV file");
    if (text(8, 4) === "AVI ") return converted("avi", "an AVI file");
    return other(text(8, 4) === "WEBP" ? "a WebP picture" : "a RIFF file");
  }
  // Five sync bytes, 188 bytes apart, or 192 with time codes.
  for (const [first, step] of [[0, 188] as const, [4, 192] as const])
    if ([0, 1, 2, 3, 4].every((count) => start[first + count * step] === 0x47))
      return other("an MPEG transport stream (ts, mts)");
  const known = beginnings.find(([beginning]) => text(0, beginning.length) === beginning);
  if (known) return known[2] === undefined ? other(known[1]) : converted(known[2], known[1]);
  if (text(0, 4) === "ADIF") return other("an AAC file of an old form (ADIF)");
  if (start[0] === 0xff && ((start[1] ?? 0) & 0xf6) === 0xf0) return converted("aac", "a bare AAC stream");
  return null;
}

/** Names a file of text, which people take for a recording; null: it is not text. */
function sniffText(start: Uint8Array): FileType | null {
  const words = String.fromCharCode(...start.subarray(0, 512))
    .replace(/^\xef\xbb\xbf/, "")
    .trimStart()
    .toLowerCase();
  if (/^(<!doctype html|<html|<head|<body)/.test(words)) return other("an HTML page");
  if (/^<(\?xml|error|[a-z]+ ?xmlns)/.test(words))
    return other("an XML document, perhaps the error message of a server");
  if (/^[{[][\s\S]*"/.test(words)) return other("a JSON document");
  return start.subarray(0, 512).every(isPrintable) ? other("a text") : null;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13;
}
