import { fileCause } from "../../../../../contract/causes/files.ts";
import type { Bytes, Probe } from "../bytes.ts";
import { DamagedFileError } from "../errors.ts";

/** A box of ISO/IEC 14496-12: positions in the file, or in the buffer that holds its parent. */
export interface Box {
  readonly type: string;
  readonly start: number;
  readonly bodyStart: number;
  /** First position after it. */
  readonly end: number;
}

/** No recording has more boxes than this in one parent. */
const maxChildren = 4096;
/** A long live recording has ten thousands of fragments; with one per picture, hundred thousands. */
const maxTopLevel = 4_000_000;

export const indexDamaged = (detail: string): DamagedFileError =>
  new DamagedFileError(
    `The file's index is damaged: ${detail}. Export or convert the recording again, for example with: ` +
      "ffmpeg -i in.mp4 -c copy -movflags +faststart out.mp4",
  );

/** The file ends before all the data that its index refers to. */
export function cutOff(size: number, needed: number): DamagedFileError {
  return new DamagedFileError(
    `The file is incomplete: it has ${size} bytes, but according to its index it needs at least ${needed}. ` +
      "It was probably cut off: send the whole file again.",
    fileCause("file_incomplete", {}),
  );
}

export function fourLetters(view: DataView, at: number): string {
  return String.fromCharCode(
    view.getUint8(at),
    view.getUint8(at + 1),
    view.getUint8(at + 2),
    view.getUint8(at + 3),
  );
}

/** A 64-bit number; beyond 2^53 it is not a position or time of a real file, and its exact value does not matter. */
export function readUint64(view: DataView, at: number): number {
  return view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);
}

/**
 * The children of a box whose body is in `view` from `start` to `end`; each fits into it.
 * @throws DamagedFileError
 */
export function children(view: DataView, start: number, end: number): Box[] {
  const found: Box[] = [];
  let at = start;
  while (end - at >= 8) {
    const type = fourLetters(view, at + 4);
    const box = header(view, at, at, type);
    if (box === null || box.end > end)
      throw indexDamaged(`its part "${printable(type)}" has an impossible size`);
    if (found.push(box) > maxChildren) throw indexDamaged("it has too many parts");
    at = box.end;
  }
  return found;
}

/** Like `children`, where writers are known to leave stray bytes: stops at invalid boxes. */
export function childrenAsFar(view: DataView, start: number, end: number): Box[] {
  const found: Box[] = [];
  let at = start;
  while (end - at >= 8 && found.length < maxChildren) {
    const box = header(view, at, at, fourLetters(view, at + 4));
    if (box === null || box.end > end) break;
    found.push(box);
    at = box.end;
  }
  return found;
}

/**
 * The boxes of a file, in order. Ends silently at an invalid box, such as padding after the last one; a box may extend
 * past the end of a truncated file.
 */
export function* topLevelBoxes(bytes: Bytes, probe: Probe, start = 0): Generator<Box> {
  let at = start;
  for (let count = 0; bytes.size - at >= 8; count += 1) {
    if (count >= maxTopLevel) throw indexDamaged("it has too many parts");
    const head = probe(at, 16);
    const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
    const type = fourLetters(view, 4);
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return;
    // Size 0: to the end of the file, only valid for a top-level box.
    const isOpen = view.getUint32(0) === 0;
    const box = isOpen ? { type, start: at, bodyStart: at + 8, end: bytes.size } : header(view, 0, at, type);
    if (box === null) return;
    yield box;
    at = box.end;
  }
}

export function find(boxes: readonly Box[], type: string): Box | undefined {
  return boxes.find((box) => box.type === type);
}

/** Null when the size is impossible. */
function header(view: DataView, at: number, start: number, type: string): Box | null {
  const size = view.getUint32(at);
  if (size >= 8) return { type, start, bodyStart: start + 8, end: start + size };
  if (size !== 1 || view.byteLength - at < 16) return null;
  const large = readUint64(view, at + 8);
  return large < 16 || !Number.isSafeInteger(start + large)
    ? null
    : { type, start, bodyStart: start + 16, end: start + large };
}

function printable(type: string): string {
  return type.replace(/[^\x20-\x7e]/g, "?");
}
