import type { ConvertedContainer } from "./media-formats.ts";

/** The type of a file by its first bytes: the family to validate further, or the name of another type. */
export type FileType =
  | { readonly family: "iso" }
  /** Also what is not recognized: an mp3 may have anything in front of its first frame. */
  | { readonly family: "mpeg_audio" }
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
  ["caff", "a Core Audio file", "caf"],
  ["#!AMR", "an AMR file", "amr"],
  ["FLV\x01", "a Flash video", "flv"],
  ["\x30\x26\xb2\x75", "a Windows Media file (wmv, wma)", "asf"],
  ["\0\0\x01\xba", "an MPEG program stream (mpg, vob)", "mpeg"],
  ["\0\0\x01\xb3", "an MPEG video stream"],
  ["\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02", "an MXF file", "mxf"],
  ["riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0", "a Sony Wave64 file", "w64"],
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
  if (text(0, 4) === "FORM" && /^AIF[FC]/.test(text(8, 4))) return converted("aiff", "an AIFF file");
  const known = beginnings.find(([beginning]) => text(0, beginning.length) === beginning);
  if (known) return known[2] === undefined ? other(known[1]) : converted(known[2], known[1]);
  if (isTransportStream(start)) return converted("mpegts", "an MPEG transport stream (ts, mts)");
  if (text(0, 4) === "ADIF") return other("an AAC file of an old form (ADIF)");
  const sound = afterTag(start);
  if (start[sound] === 0xff && ((start[sound + 1] ?? 0) & 0xf6) === 0xf0)
    return converted("aac", "a bare AAC stream");
  return null;
}

/** Where a file begins behind an ID3v2 tag (id3.org, ID3v2.4.0, 3.1), which players of AAC skip. */
function afterTag(start: Uint8Array): number {
  if (String.fromCharCode(...start.subarray(0, 3)) !== "ID3") return 0;
  return start.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0) + 10;
}

/** Packets of 188 bytes with a sync byte, or of 192 with time codes. A recording may begin within a packet. */
function isTransportStream(start: Uint8Array): boolean {
  for (const step of [188, 192])
    for (let first = 0; first < step; first += 1)
      if ([0, 1, 2, 3, 4].every((count) => start[first + count * step] === 0x47)) return true;
  return false;
}

/** What a file is that is not a recording; null: it is one by its first bytes. */
export function otherContent(start: Uint8Array): string | null {
  const type = sniff(start);
  if (type.family === "other") return type.name;
  return type.family === "mpeg_audio" && !beginsAsMp3(start) ? "a file of an unknown type" : null;
}

/** Whether a file begins as an mp3 does: with a tag or a frame (ISO/IEC 11172-3), perhaps behind zero bytes. */
function beginsAsMp3(start: Uint8Array): boolean {
  const at = start.findIndex((byte) => byte !== 0);
  if (String.fromCharCode(...start.subarray(at, at + 3)) === "ID3") return true;
  const second = start[at + 1] ?? 0;
  return start[at] === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) === 0x02;
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
