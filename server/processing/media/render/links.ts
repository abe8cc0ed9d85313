import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { ConvertedContainer } from "../../../../shared/files/media-formats.ts";

/** The bytes of a file that are a complete stream. */
export interface Link {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** More streams one after the other than a radio station sends in a day. */
export const maxLinks = 1000;

const windowBytes = 1 << 20;

/**
 * Streams that stand one after the other in a file, each with a clock that starts again: chained Ogg (RFC 3533, 4), and
 * WebM, Matroska and FLAC files that were appended to each other. libav reads only the first, or restarts its clock.
 * @param range the bytes that are the file; absent: all.
 * @returns at least one.
 */
export function findLinks(path: string, container: ConvertedContainer, range?: Link): Link[] {
  const file = openSync(path, "r");
  try {
    const bounds = range ?? { start: 0, end: fstatSync(file).size };
    const starts = [...startsOf(createReader(file, bounds.end), container, bounds)].filter(
      (start) => start > bounds.start,
    );
    return [bounds.start, ...starts].map((start, i) => ({ start, end: starts[i] ?? bounds.end }));
  } finally {
    closeSync(file);
  }
}

function startsOf(reader: Reader, container: ConvertedContainer, bounds: Link): Iterable<number> {
  if (container === "ogg") return oggStarts(reader, bounds);
  if (container === "webm" || container === "mkv") return startsBy(reader, bounds, ebmlMagic, isEbmlHeader);
  if (container === "flac") return startsBy(reader, bounds, flacMagic, () => true);
  return [];
}

interface Reader {
  /** Up to `length` bytes from a position, fewer at the end; valid until the next call. */
  read(at: number, length: number): Buffer;
  /** Where a magic number is, at a position or behind it; null: nowhere. */
  find(magic: Buffer, at: number): number | null;
}

function createReader(file: number, end: number): Reader {
  const buffer = Buffer.alloc(windowBytes);
  let from = 0;
  let filled = 0;
  /** All bytes from a position that are in memory: `length` or more, fewer at the end. */
  const held = (at: number, length: number): Buffer => {
    if (at < from || at + length > from + filled) {
      from = at;
      filled = 0;
      const wanted = Math.max(0, Math.min(windowBytes, end - at));
      while (filled < wanted) {
        const count = readSync(file, buffer, filled, wanted - filled, at + filled);
        if (count === 0) break;
        filled += count;
      }
    }
    return buffer.subarray(at - from, filled);
  };
  return {
    read: (at, length) => held(at, length).subarray(0, length),
    // What is in memory is searched before more is read, so that no byte is read again for each of many finds.
    find: (magic, start) => {
      for (let at = start; at + magic.length <= end; ) {
        const bytes = held(at, magic.length);
        const found = bytes.indexOf(magic);
        if (found >= 0) return at + found;
        if (bytes.length < magic.length) return null;
        at += bytes.length - magic.length + 1;
      }
      return null;
    },
  };
}

/** RFC 3533, 6: a page has a header of 27 bytes, the lengths of its segments, and the segments. */
const pageHeader = 27;
const pageMagic = Buffer.from("OggS");
const firstPageFlag = 2;

/** Streams of a group begin together; a first page after other pages begins the next group. */
function* oggStarts({ read, find }: Reader, { start, end }: Link): Generator<number, void, void> {
  let isAfterOthers = false;
  for (let at = start; at + pageHeader <= end; ) {
    const header = read(at, pageHeader + 255);
    if (!header.subarray(0, 4).equals(pageMagic)) {
      // A damaged stretch: on to the next page.
      const next = find(pageMagic, at + 1);
      if (next === null) return;
      at = next;
      continue;
    }
    const isFirst = ((header[5] ?? 0) & firstPageFlag) !== 0;
    if (isFirst && isAfterOthers) yield at;
    isAfterOthers = !isFirst;
    const count = header[26] ?? 0;
    let bytes = pageHeader + count;
    for (let i = 0; i < count; i++) bytes += header[pageHeader + i] ?? 0;
    at += bytes;
  }
}

/** The ID of an EBML header (RFC 8794, 11.2.1), with which WebM and Matroska files begin. */
const ebmlMagic = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);
/** RFC 9639, 8: the marker, and the header of the first block, which is the stream's description of 34 bytes. */
const flacMagic = Buffer.from("fLaC\0\0\0\x22", "latin1");
/** An EBML header names its document type within its first bytes. */
const headBytes = 64;

function isEbmlHeader(head: Buffer): boolean {
  return head.includes("webm") || head.includes("matroska");
}

/** Positions of a magic number. */
function* startsBy(
  { read, find }: Reader,
  { start }: Link,
  magic: Buffer,
  isStart: (head: Buffer) => boolean,
): Generator<number, void, void> {
  for (let at = find(magic, start); at !== null; at = find(magic, at + magic.length))
    if (isStart(read(at, headBytes))) yield at;
}
