import { fileCause } from "../../../../../contract/causes/files.ts";
import { titleInFile } from "../../../../../shared/files/title-in-file.ts";
import type { Bytes, Probe } from "../bytes.ts";
import { DamagedFileError } from "../errors.ts";
import type { MeasuredMedia } from "../measured.ts";
import { durationName } from "../messages.ts";
import {
  announcedBy,
  createFrameTable,
  type FrameHeader,
  type FrameTable,
  headerAt,
  isContentsFrame,
  isLike,
  isOfConstantRate,
} from "./frame.ts";
import { apeBytes, id3v2Bytes, soundEnd } from "./tags.ts";
import { id3Title } from "./title.ts";

/** A file without a frame in this many bytes at its beginning is not an mp3. */
const maxLeadingJunk = 1 << 20;
/** Bytes between frames that players skip: this many always, and this share of the file. */
const harmlessJunk = 1 << 16;
const maxJunkPart = 0.1;
/** The longest possible frame has 2881 bytes; a search requires this many consecutive frames. */
const confirmations = 3;
const searchBytes = 1 << 14;
const remedy =
  "Convert the recording to mp3 again, for example with: ffmpeg -i in.mp3 -c:a libmp3lame -b:a 128k out.mp3";

/**
 * Measures an mp3 by reading all its frames once, in constant memory.
 * @param options.keepsBeginning whether a file that was cut off is measured as far as it goes, and not refused.
 * @throws DamagedFileError when it is not an mp3, or in free format; ReadFailedError
 */
export function measureMp3(
  bytes: Bytes,
  probe: Probe,
  { keepsBeginning = false }: { readonly keepsBeginning?: boolean } = {},
): MeasuredMedia {
  const walk = walkFrames(bytes);
  if (walk.cut !== null && !keepsBeginning) throw breaksOff(walk.cut, walk.seconds);
  return {
    container: "mp3",
    sizeBytes: bytes.size,
    durationSec: walk.seconds,
    videos: [],
    audios: [
      {
        codec: `mp${walk.first.layer}`,
        isDecodable: walk.first.layer === 3,
        channels: walk.first.channels,
        sampleRate: walk.first.sampleRate,
      },
    ],
    title: titleInFile(id3Title(probe)),
    endsEarly: walk.cut === null ? undefined : { expectedSec: walk.cut.announcedSec },
    isFastStart: true,
    isFragmented: false,
    isExactlySeekable: walk.isExactlySeekable,
  };
}

interface Walk {
  readonly first: FrameHeader;
  readonly seconds: number;
  /** What the header announces, if the end is missing. */
  readonly cut: Cut | null;
  readonly isExactlySeekable: boolean;
}

interface Cut {
  readonly announcedSec: number;
  readonly announcedBytes: number;
  readonly bytes: number;
}

/** Players are this far off at most. */
const maxSeekErrorSec = 0.2;

/** What decides whether players find a time by its share of the file. */
interface Regularity {
  /** Of the first frame with sound; -1: not all frames have it. */
  bitRate: number;
  frames: number;
  /** Bytes in front of the first frame and between frames that are not sound. */
  strayBytes: number;
  /** Whether the header at the beginning, if any, is that of a constant bit rate. */
  isContentsRight: boolean;
}

/**
 * Whether browsers find any time of the file: they compute positions from its length and bit rate, and the table of a file
 * with a variable bit rate has 100 entries, which are minutes apart in a long one.
 */
function isExactlySeekable(
  { bitRate, frames, strayBytes, isContentsRight }: Regularity,
  announced: Announced | null,
  { soundBytes, trailingBytes }: { readonly soundBytes: number; readonly trailingBytes: number },
): boolean {
  if (bitRate <= 0 || !isContentsRight) return false;
  const isLengthRight =
    announced === null ||
    (Math.abs(announced.frames - frames) <= 2 && Math.abs(announced.bytes - soundBytes) <= cutBytes);
  const stray = strayBytes + (announced === null ? trailingBytes : 0);
  return isLengthRight && (stray * 8) / bitRate <= maxSeekErrorSec;
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop over all frames, whose state would only be passed around.
function walkFrames(bytes: Bytes): Walk {
  const table = createFrameTable();
  const end = soundEnd(bytes);
  const window = createWindow(bytes);
  let first: FrameHeader | null = null;
  let last: FrameHeader | null = null;
  /** Whether a frame or a tag ended right here. */
  let isExpected = false;
  let seconds = 0;
  /** Samples of the current rate, not yet in `seconds`: no division per frame. */
  let samples = 0;
  let junk = 0;
  let at = 0;
  let announced: (Announced & { readonly start: number }) | null = null;
  const regularity: Regularity = { bitRate: 0, frames: 0, strayBytes: 0, isContentsRight: true };
  while (end - at >= 4) {
    if (at + searchBytes > window.end && window.end < bytes.size) moveTo(bytes, window, at);
    const place = at - window.start;
    const header = headerAt(table, window.content, place);
    if (header !== null && header.bytes > 0 && (first === null || header.layer === first.layer)) {
      const goesOn = isExpected && last !== null && isLike(header, last);
      if (goesOn || isConfirmed(table, window.content, place, header, end - window.start)) {
        if (last !== null && last.sampleRate !== header.sampleRate) {
          seconds += samples / last.sampleRate;
          samples = 0;
        }
        const isSound = first !== null || !isContentsFrame(header, window.content, place);
        const said = isSound ? null : announcedBy(header, window.content, place);
        if (said !== null) announced = { ...said, start: at };
        if (!isSound) regularity.isContentsRight = isOfConstantRate(header, window.content, place);
        first ??= header;
        // A truncated last frame is not played and does no harm.
        if (isSound && header.bytes <= end - at) {
          samples += header.samples;
          addTo(regularity, header, first);
        }
        last = header;
        isExpected = true;
        at += header.bytes;
        continue;
      }
    }
    const tag = id3v2Bytes(window.content, place) || apeBytes(window.content, place);
    if (tag > 0 && tag <= end - at) {
      isExpected = true;
      if (first !== null) regularity.strayBytes += tag;
      at += tag;
      continue;
    }
    isExpected = false;
    junk += 1;
    at += 1;
    if (first === null) {
      if (junk > maxLeadingJunk) break;
      continue;
    }
    if (junk > harmlessJunk && junk > maxJunkPart * end)
      throw new DamagedFileError(
        `The file is not an mp3 file, or is badly damaged: ${junk} of its first ${at} bytes are not mp3 audio. ${remedy}`,
      );
  }
  if (first === null || last === null) throw noFrames(bytes, table);
  regularity.strayBytes += junk;
  const walked = {
    first,
    seconds: seconds + samples / last.sampleRate,
    isExactlySeekable: isExactlySeekable(regularity, announced, {
      soundBytes: end - (announced?.start ?? 0),
      trailingBytes: bytes.size - end,
    }),
  };
  return { ...walked, cut: announced === null ? null : findCut(announced, walked, end - announced.start) };
}

function addTo(regularity: Regularity, { bitRate, sampleRate }: FrameHeader, first: FrameHeader): void {
  regularity.frames += 1;
  if (regularity.bitRate === 0) regularity.bitRate = bitRate;
  if (bitRate !== regularity.bitRate || sampleRate !== first.sampleRate) regularity.bitRate = -1;
}

interface Announced {
  readonly frames: number;
  readonly bytes: number;
}

/** The header alone is not trusted. If both numbers are well above what is there, the end is missing. */
const cutPart = 1.01;
const cutBytes = 1024;

function findCut(announced: Announced, { first, seconds }: Omit<Walk, "cut">, bytes: number): Cut | null {
  const announcedSec = (announced.frames * first.samples) / first.sampleRate;
  if (announcedSec <= seconds * cutPart || announced.bytes <= bytes * cutPart + cutBytes) return null;
  return { announcedSec, announcedBytes: announced.bytes, bytes };
}

function breaksOff({ announcedSec, announcedBytes, bytes }: Cut, seconds: number): DamagedFileError {
  return new DamagedFileError(
    `The file breaks off: its header announces ${durationName(announcedSec)} in ${announcedBytes} bytes, and ` +
      `${durationName(seconds)} in ${bytes} bytes are there. Send the whole file again; if it is like that at your end as well, ` +
      "re-encode it, for example with: ffmpeg -i in.mp3 -c copy out.mp3",
    fileCause("file_incomplete", {}),
  );
}

/** A window of the file that moves forward. */
interface Window {
  /** File position of its first byte, and of the first byte after it. */
  start: number;
  end: number;
  content: Uint8Array;
  readonly buffer: Uint8Array;
}

function createWindow(bytes: Bytes): Window {
  const buffer = new Uint8Array(Math.max(bytes.blockBytes, 4 * searchBytes));
  return { start: 0, end: 0, content: buffer.subarray(0, 0), buffer };
}

function moveTo(bytes: Bytes, window: Window, start: number): void {
  window.content = window.buffer.subarray(0, Math.min(window.buffer.length, bytes.size - start));
  window.start = start;
  window.end = start + window.content.length;
  bytes.readInto(window.content, start);
}

/** Whether frames of the same kind follow directly, or the audio ends with this one. */
function isConfirmed(
  table: FrameTable,
  content: Uint8Array,
  place: number,
  header: FrameHeader,
  end: number,
): boolean {
  let at = place + header.bytes;
  for (let count = 0; count < confirmations; count += 1) {
    if (at > end) return false;
    if (end - at < 4) return true;
    const next = headerAt(table, content, at);
    if (next === null || next.bytes === 0 || !isLike(next, header)) return false;
    at += next.bytes;
  }
  return true;
}

function noFrames(bytes: Bytes, table: FrameTable): DamagedFileError {
  const content = new Uint8Array(Math.min(bytes.size, 1 << 17));
  bytes.readInto(content, 0);
  return new DamagedFileError(
    hasFreeFormat(table, content)
      ? `The mp3 is in free format, which few players support. ${remedy}`
      : `No mp3 audio was found in the file. ${remedy}`,
  );
}

/** Free format: frames without a stated length, which all have the same one. */
function hasFreeFormat(table: FrameTable, content: Uint8Array): boolean {
  let candidates = 0;
  for (let at = 0; at + 4 < content.length && candidates < 32; at += 1) {
    const header = headerAt(table, content, at);
    if (header === null || header.bytes !== 0 || header.layer !== 3) continue;
    candidates += 1;
    const isSame = (place: number): boolean => {
      const other = headerAt(table, content, place);
      return other !== null && other.bytes === 0 && isLike(other, header);
    };
    for (let length = 24; length < 8192 && at + 2 * length < content.length; length += 1)
      // Padding makes single frames one byte longer.
      if (isSame(at + length) && [-1, 0, 1].some((more) => isSame(at + 2 * length + more))) return true;
  }
  return false;
}
