import { type Box, children, find, indexDamaged, readUint64 } from "./boxes.ts";

/** Entries of a table: the position of the first one in the index, and their number. */
export interface Table {
  readonly at: number;
  readonly count: number;
}

/** The sample tables of a track (`stbl`). Every table fits its box, and all have the same number of samples. */
export interface SampleTables {
  readonly view: DataView;
  readonly sampleCount: number;
  /** `stts`: samples, duration of each. */
  readonly durations: Table;
  /** `ctts`: samples, how much later than decoded each is shown. Null: at once. */
  readonly delays: Table | null;
  /** `stsz` and `stz2`: all samples have `constant` bytes, or each its own entry of `bits`. */
  readonly sizes: { readonly constant: number; readonly at: number; readonly bits: number };
  /** `stsc`: first chunk, samples per chunk, description. */
  readonly chunkRuns: Table;
  /** `stco`, `co64`. */
  readonly chunks: Table & { readonly wide: boolean };
  /** `stss`: numbers of the keyframes, ascending, from 1. Null: every sample is one. */
  readonly keyframes: Table | null;
}

/**
 * Reads and checks the tables of one track.
 * @throws DamagedFileError
 */
export function readTables(view: DataView, stbl: Box): SampleTables {
  const boxes = children(view, stbl.bodyStart, stbl.end);
  const table = (type: string, entryBytes: number): Table | null => {
    const box = find(boxes, type);
    return box === undefined ? null : readTable(view, box, entryBytes);
  };
  const { sampleCount, sizes } = readSizes(view, boxes);
  const none: Table = { at: 0, count: 0 };
  const narrow = table("stco", 4);
  const tables: SampleTables = {
    view,
    sampleCount,
    sizes,
    durations: table("stts", 8) ?? none,
    delays: table("ctts", 8),
    chunkRuns: table("stsc", 12) ?? none,
    chunks: narrow ? { ...narrow, wide: false } : { ...(table("co64", 8) ?? none), wide: true },
    keyframes: table("stss", 4),
  };
  if (sumOfRuns(view, tables.durations) !== sampleCount)
    throw indexDamaged("its tables disagree on the number of samples");
  if (tables.delays !== null && sumOfRuns(view, tables.delays) > sampleCount)
    throw indexDamaged("its tables disagree on the number of samples");
  checkChunkRuns(tables);
  checkKeyframes(tables);
  return tables;
}

/** The entries of a full box that begins with a count; they fit into the box. */
export function readTable(view: DataView, box: Box, entryBytes: number): Table {
  const room = box.end - box.bodyStart - 8;
  if (room < 0) throw indexDamaged(`its table "${box.type}" is too short`);
  const count = view.getUint32(box.bodyStart + 4);
  if (count * entryBytes > room)
    throw indexDamaged(`its table "${box.type}" is longer than the space it has`);
  return { at: box.bodyStart + 8, count };
}

function readSizes(view: DataView, boxes: readonly Box[]): Pick<SampleTables, "sampleCount" | "sizes"> {
  const none = { sampleCount: 0, sizes: { constant: 0, at: 0, bits: 32 } };
  const box = find(boxes, "stsz") ?? find(boxes, "stz2");
  if (box === undefined) return none;
  const room = box.end - box.bodyStart - 12;
  if (room < 0) throw indexDamaged(`its table "${box.type}" is too short`);
  const sampleCount = view.getUint32(box.bodyStart + 8);
  const constant = box.type === "stsz" ? view.getUint32(box.bodyStart + 4) : 0;
  const bits = box.type === "stsz" ? 32 : view.getUint8(box.bodyStart + 7);
  if (![4, 8, 16, 32].includes(bits)) throw indexDamaged('its table "stz2" has an unknown format');
  if (constant === 0 && Math.ceil((sampleCount * bits) / 8) > room)
    throw indexDamaged(`its table "${box.type}" is longer than the space it has`);
  return { sampleCount, sizes: { constant, at: box.bodyStart + 12, bits } };
}

function sumOfRuns(view: DataView, table: Table): number {
  let sum = 0;
  for (let entry = 0; entry < table.count; entry += 1) sum += view.getUint32(table.at + 8 * entry);
  return sum;
}

/** Runs name their first chunk in ascending order from 1, none of them empty, none beyond the last chunk. */
function checkChunkRuns({ view, chunkRuns, chunks, sampleCount }: SampleTables): void {
  let previous = 0;
  for (let run = 0; run < chunkRuns.count; run += 1) {
    const first = view.getUint32(chunkRuns.at + 12 * run);
    const isInOrder = run === 0 ? first === 1 : first > previous;
    // A track without samples may have a run all the same.
    const isThere = first <= chunks.count || sampleCount === 0;
    if (!isInOrder || !isThere || view.getUint32(chunkRuns.at + 12 * run + 4) === 0)
      throw indexDamaged('its table "stsc" is invalid');
    previous = first;
  }
}

function checkKeyframes({ view, keyframes, sampleCount }: SampleTables): void {
  let previous = 0;
  for (let entry = 0; entry < (keyframes?.count ?? 0); entry += 1) {
    const number = view.getUint32((keyframes?.at ?? 0) + 4 * entry);
    if (number <= previous || number > sampleCount) throw indexDamaged('its table "stss" is invalid');
    previous = number;
  }
}

export function sampleSize({ view, sizes }: SampleTables, index: number): number {
  if (sizes.constant !== 0) return sizes.constant;
  if (sizes.bits === 32) return view.getUint32(sizes.at + 4 * index);
  if (sizes.bits === 16) return view.getUint16(sizes.at + 2 * index);
  if (sizes.bits === 8) return view.getUint8(sizes.at + index);
  const pair = view.getUint8(sizes.at + (index >> 1));
  return index % 2 === 0 ? pair >> 4 : pair & 15;
}

export function chunkOffset({ view, chunks }: SampleTables, chunk: number): number {
  return chunks.wide ? readUint64(view, chunks.at + 8 * chunk) : view.getUint32(chunks.at + 4 * chunk);
}
