import { type Box, children, childrenAsFar, find, fourLetters, indexDamaged, readUint64 } from "./boxes.ts";
import { readSampleEntries, refuseOtherFiles, type SampleEntry } from "./codecs.ts";
import { readTable, readTables, type SampleTables } from "./tables.ts";
import type { Edit } from "./timeline.ts";

/** A video or audio track of the index (`moov`). */
export interface Track {
  readonly id: number;
  readonly kind: "video" | "audio";
  /** Ticks per second. */
  readonly timescale: number;
  /** Clockwise rotation in degrees in which the picture is shown. */
  readonly rotation: number;
  readonly edits: readonly Edit[];
  readonly entries: readonly SampleEntry[];
  readonly tables: SampleTables;
  readonly defaults: FragmentDefaults;
  /** Whether it holds the pictures of another track's chapters. */
  readonly isChapterPictures: boolean;
}

/** Default properties of the samples in fragments (`trex`). */
export interface FragmentDefaults {
  readonly duration: number;
  readonly size: number;
  readonly flags: number;
}

export interface Movie {
  /** Ticks per second of edits. */
  readonly timescale: number;
  readonly tracks: readonly Track[];
  /** When the recording started, in seconds since 1904; 0: not stated. */
  readonly createdAt: number;
  /** Its title, and the program that wrote it, as its metadata states them. */
  readonly title: string | undefined;
  readonly program: string | undefined;
  /** How long the file is with all its fragments, as its header says; 0: it doesn't. */
  readonly statedSec: number;
  /** Whether fragments may follow (`mvex`). */
  readonly isOpen: boolean;
}

const maxTracks = 64;
const maxEdits = 100_000;
type Turn = readonly [a: number, b: number, c: number, d: number];

/**
 * Reads an index that is completely in memory; tracks of other kinds (text, time code) are skipped.
 * @throws DamagedFileError
 */
export function readMovie(moov: Uint8Array): Movie {
  const view = new DataView(moov.buffer, moov.byteOffset, moov.byteLength);
  const outer = children(view, 0, moov.length)[0];
  if (outer === undefined) throw indexDamaged("it is empty");
  const boxes = children(view, outer.bodyStart, outer.end);
  if (find(boxes, "cmov")) throw indexDamaged("it is compressed, which only old QuickTime players read");
  if (find(boxes, "rmra")) throw indexDamaged("it only refers to other files");
  if (find(boxes, "mdat")) throw indexDamaged("it overlaps the media data");
  const mvhd = find(boxes, "mvhd");
  if (mvhd === undefined) throw indexDamaged('its header "mvhd" is missing');
  const isLong = field(view, mvhd, 0, 1) === 1;
  const timescale = field(view, mvhd, isLong ? 20 : 12, 4);
  if (timescale === 0) throw indexDamaged("its timescale is zero");
  const movieTurn = readTurn(view, mvhd, isLong ? 48 : 36);
  const mvex = find(boxes, "mvex");
  const defaults = mvex ? readDefaults(view, mvex) : new Map<number, FragmentDefaults>();
  const traks = boxes.filter((box) => box.type === "trak");
  if (traks.length > maxTracks) throw indexDamaged(`it has ${traks.length} tracks`);
  const parts = traks.map((trak) => children(view, trak.bodyStart, trak.end));
  const chapters = new Set(parts.flatMap((part) => chapterTracks(view, part)));
  const tracks = parts
    .map((part) => readTrack(view, part, timescale, movieTurn, defaults, chapters))
    .filter((track) => track !== null);
  // The upper half of a long time is zero until the year 2040.
  const createdAt = field(view, mvhd, isLong ? 8 : 4, 4);
  const tags = readTags(view, boxes);
  return {
    timescale,
    tracks,
    createdAt,
    statedSec: mvex ? statedTicks(view, mvex) / timescale : 0,
    title: tags("\xa9nam"),
    program: tags("\xa9too"),
    isOpen: mvex !== undefined,
  };
}

function readTrack(
  view: DataView,
  trak: readonly Box[],
  movieTimescale: number,
  movieTurn: Turn,
  defaults: ReadonlyMap<number, FragmentDefaults>,
  chapters: ReadonlySet<number>,
): Track | null {
  const tkhd = find(trak, "tkhd");
  const mdia = find(trak, "mdia");
  if (tkhd === undefined || mdia === undefined) throw indexDamaged("a track has no header");
  const media = children(view, mdia.bodyStart, mdia.end);
  const hdlr = find(media, "hdlr");
  if (hdlr === undefined) throw indexDamaged("a track has no type");
  field(view, hdlr, 8, 4);
  const handler = fourLetters(view, hdlr.bodyStart + 8);
  if (handler !== "vide" && handler !== "soun") return null;
  const kind = handler === "vide" ? "video" : "audio";
  const mdhd = find(media, "mdhd");
  const minf = find(media, "minf");
  if (mdhd === undefined || minf === undefined) throw indexDamaged("a track has no header");
  const timescale = field(view, mdhd, field(view, mdhd, 0, 1) === 1 ? 20 : 12, 4);
  if (timescale === 0) throw indexDamaged("the timescale of a track is zero");
  const info = children(view, minf.bodyStart, minf.end);
  const dinf = find(info, "dinf");
  const dref = dinf && find(children(view, dinf.bodyStart, dinf.end), "dref");
  if (dref) refuseOtherFiles(view, dref);
  const stbl = find(info, "stbl");
  const stsd = stbl && find(children(view, stbl.bodyStart, stbl.end), "stsd");
  if (stbl === undefined || stsd === undefined) throw indexDamaged("a track has no tables");
  const isLong = field(view, tkhd, 0, 1) === 1;
  const id = field(view, tkhd, isLong ? 20 : 12, 4);
  return {
    id,
    kind,
    timescale,
    rotation: rotationOf(product(readTurn(view, tkhd, isLong ? 52 : 40), movieTurn)),
    edits: readEdits(view, trak, movieTimescale, timescale),
    entries: readSampleEntries(view, stsd, kind),
    tables: readTables(view, stbl),
    defaults: defaults.get(id) ?? { duration: 0, size: 0, flags: 0 },
    isChapterPictures: chapters.has(id),
  };
}

/** A number in a box, at an offset from the beginning of its body. */
function field(view: DataView, box: Box, at: number, bytes: 1 | 4): number {
  if (box.end - box.bodyStart < at + bytes) throw indexDamaged(`its part "${box.type}" is too short`);
  return bytes === 1 ? view.getUint8(box.bodyStart + at) : view.getUint32(box.bodyStart + at);
}

/** The part of a matrix that rotates and mirrors (ISO/IEC 14496-12, 6.2.2). */
function readTurn(view: DataView, box: Box, at: number): Turn {
  field(view, box, at + 16, 4);
  const value = (index: number): number => view.getInt32(box.bodyStart + at + 4 * index) / 65_536;
  return [value(0), value(1), value(3), value(4)];
}

function product([a, b, c, d]: Turn, [e, f, g, h]: Turn): Turn {
  return [a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h];
}

function rotationOf([a, b]: Turn): number {
  const degrees = (Math.atan2(b, a) * 180) / Math.PI;
  return (Math.round(degrees / 90) * 90 + 360) % 360;
}

function readEdits(view: DataView, trak: readonly Box[], movieTimescale: number, timescale: number): Edit[] {
  const edts = find(trak, "edts");
  const elst = edts && find(children(view, edts.bodyStart, edts.end), "elst");
  if (elst === undefined) return [];
  const isLong = field(view, elst, 0, 1) === 1;
  const table = readTable(view, elst, isLong ? 20 : 12);
  if (table.count > maxEdits) throw indexDamaged(`a track has ${table.count} edits`);
  const edits: Edit[] = [];
  for (let entry = 0; entry < table.count; entry += 1) {
    const at = table.at + entry * (isLong ? 20 : 12);
    const duration = isLong ? readUint64(view, at) : view.getUint32(at);
    const mediaStart = isLong ? Number(view.getBigInt64(at + 8)) : view.getInt32(at + 4);
    edits.push({
      durationSec: duration / movieTimescale,
      mediaStartSec: mediaStart < 0 ? null : mediaStart / timescale,
    });
  }
  return edits;
}

function readDefaults(view: DataView, mvex: Box): Map<number, FragmentDefaults> {
  const boxes = children(view, mvex.bodyStart, mvex.end).filter((box) => box.type === "trex");
  return new Map(
    boxes.map((box) => [
      field(view, box, 4, 4),
      { duration: field(view, box, 12, 4), size: field(view, box, 16, 4), flags: field(view, box, 20, 4) },
    ]),
  );
}

/** The tracks that a track references as its chapters (`tref`, `chap`). */
function chapterTracks(view: DataView, trak: readonly Box[]): number[] {
  const tref = find(trak, "tref");
  const chap = tref && find(children(view, tref.bodyStart, tref.end), "chap");
  if (chap === undefined) return [];
  const count = Math.min(Math.floor((chap.end - chap.bodyStart) / 4), maxTracks);
  return Array.from({ length: count }, (_none, index) => view.getUint32(chap.bodyStart + 4 * index));
}

/**
 * The texts of an index by their names: in the list of iTunes (`udta`, `meta`, `ilst`), or in that of QuickTime, directly
 * in `udta`. They only describe the recording, so that a damaged list is none.
 */
function readTags(view: DataView, boxes: readonly Box[]): (name: string) => string | undefined {
  const udta = find(boxes, "udta");
  const user = udta === undefined ? [] : childrenAsFar(view, udta.bodyStart, udta.end);
  const meta = find(user, "meta");
  // A version and flags, which QuickTime leaves out.
  const inMeta = meta && [4, 0].map((skip) => childrenAsFar(view, meta.bodyStart + skip, meta.end));
  const ilst = inMeta?.map((list) => find(list, "ilst")).find((list) => list !== undefined);
  const items = ilst === undefined ? [] : childrenAsFar(view, ilst.bodyStart, ilst.end);
  return (name) => {
    const item = find(items, name);
    const data = item && find(childrenAsFar(view, item.bodyStart, item.end), "data");
    if (data !== undefined) return textIn(view, data, 8);
    const plain = find(user, name);
    return plain && textIn(view, plain, 4);
  };
}

const maxTextBytes = 4000;

/** The text of a box behind its header of so many bytes. */
function textIn(view: DataView, box: Box, headBytes: number): string | undefined {
  const start = box.bodyStart + headBytes;
  const length = Math.min(box.end - start, maxTextBytes);
  if (length <= 0) return undefined;
  return new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset + start, length));
}

/** The length of the whole file by its header of fragments (ISO/IEC 14496-12, 8.8.2: `mehd`), in the movie's ticks. */
function statedTicks(view: DataView, mvex: Box): number {
  const mehd = find(childrenAsFar(view, mvex.bodyStart, mvex.end), "mehd");
  if (mehd === undefined || mehd.end - mehd.bodyStart < 8) return 0;
  const isLong = view.getUint8(mehd.bodyStart) === 1 && mehd.end - mehd.bodyStart >= 12;
  return isLong ? readUint64(view, mehd.bodyStart + 4) : view.getUint32(mehd.bodyStart + 4);
}
