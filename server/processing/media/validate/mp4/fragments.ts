import type { Bytes } from "../bytes.ts";
import { type Box, children, cutOff, find, indexDamaged, readUint64 } from "./boxes.ts";
import type { FragmentDefaults } from "./movie.ts";
import { addKeyframe, addSamples, type Timeline } from "./timeline.ts";

/** The totals that fragments add to a track. */
export interface FragmentTrack {
  readonly id: number;
  readonly defaults: FragmentDefaults;
  readonly timeline: Timeline;
  /** When the next sample is decoded, in ticks, unless a fragment states it. */
  decodedAt: number;
  /** End position of the sample that ends last. */
  furthest: number;
  /** Samples that end behind this are missing; infinite: all count, and the file is refused. */
  readonly limit: number;
  /** Whether samples are missing. */
  isCut: boolean;
  /** Whether a sample marked as a keyframe counts as one. */
  readonly acceptKeyframe: (offset: number, size: number) => boolean;
}

/** Ten seconds of the busiest recording need a thousandth of it. */
const maxFragmentBytes = 32 * 2 ** 20;
const isNoKeyframe = 0x10000;

/**
 * Reads one fragment's header (`moof`, ISO/IEC 14496-12, 8.8) and adds its samples to their tracks.
 * @throws DamagedFileError
 */
export function readFragment(bytes: Bytes, moof: Box, tracks: ReadonlyMap<number, FragmentTrack>): void {
  const length = moof.end - moof.start;
  if (moof.end > bytes.size) {
    for (const track of tracks.values()) {
      if (track.limit < moof.end) track.isCut = true;
      else throw cutOff(bytes.size, moof.end);
    }
    return;
  }
  if (length > maxFragmentBytes) throw indexDamaged("the header of a fragment has an impossible size");
  const content = new Uint8Array(length);
  bytes.readInto(content, moof.start);
  const view = new DataView(content.buffer);
  let dataEnd = moof.start;
  for (const traf of children(view, moof.bodyStart - moof.start, length)) {
    if (traf.type !== "traf") continue;
    const boxes = children(view, traf.bodyStart, traf.end);
    const tfhd = find(boxes, "tfhd");
    if (tfhd === undefined) throw indexDamaged("a fragment has no header");
    const header = readHeader(view, tfhd, moof.start, dataEnd);
    const track = tracks.get(header.trackId);
    const tfdt = find(boxes, "tfdt");
    if (track && tfdt) track.decodedAt = readDecodeTime(view, tfdt);
    dataEnd = header.base;
    for (const trun of boxes.filter((box) => box.type === "trun"))
      dataEnd = readRun(view, trun, header, dataEnd, track);
  }
}

interface Header {
  readonly trackId: number;
  readonly base: number;
  readonly duration: number | null;
  readonly size: number | null;
  readonly flags: number | null;
}

/** Reads the fields of a full box in order, none past its end. */
function fields(
  view: DataView,
  box: Box,
  at: number,
): { next(): number; next64(): number; position(): number } {
  let place = box.bodyStart + at;
  const need = (count: number): number => {
    if (box.end - place < count) throw indexDamaged(`its part "${box.type}" is too short`);
    place += count;
    return place - count;
  };
  return {
    next: () => view.getUint32(need(4)),
    next64: () => readUint64(view, need(8)),
    position: () => place,
  };
}

function readHeader(view: DataView, tfhd: Box, moofStart: number, dataEnd: number): Header {
  const reader = fields(view, tfhd, 0);
  const flags = reader.next() & 0xffffff;
  const trackId = reader.next();
  const explicit = flags & 0x1 ? reader.next64() : null;
  if (flags & 0x2) reader.next();
  const duration = flags & 0x8 ? reader.next() : null;
  const size = flags & 0x10 ? reader.next() : null;
  const sampleFlags = flags & 0x20 ? reader.next() : null;
  const base = explicit ?? (flags & 0x20000 ? moofStart : dataEnd);
  return { trackId, base, duration, size, flags: sampleFlags };
}

function readDecodeTime(view: DataView, tfdt: Box): number {
  const reader = fields(view, tfdt, 0);
  const isLong = reader.next() >>> 24 === 1;
  return isLong ? reader.next64() : reader.next();
}

/** Adds the samples of one run; returns where their bytes end. */
function readRun(
  view: DataView,
  trun: Box,
  header: Header,
  dataEnd: number,
  track: FragmentTrack | undefined,
): number {
  const reader = fields(view, trun, 0);
  const flags = reader.next() & 0xffffff;
  const count = reader.next();
  const offset = flags & 0x1 ? header.base + (reader.next() | 0) : dataEnd;
  const firstFlags = flags & 0x4 ? reader.next() : null;
  const own = {
    duration: (flags & 0x100) !== 0,
    size: (flags & 0x200) !== 0,
    flags: (flags & 0x400) !== 0,
    delay: (flags & 0x800) !== 0,
  };
  const entryBytes = 4 * Object.values(own).filter(Boolean).length;
  if (count * entryBytes > trun.end - reader.position())
    throw indexDamaged('its table "trun" is longer than the space it has');
  const usual = {
    duration: header.duration ?? track?.defaults.duration ?? 0,
    size: header.size ?? track?.defaults.size ?? 0,
    flags: header.flags ?? track?.defaults.flags ?? 0,
  };
  if (count === 0) return offset;
  if (entryBytes === 0) return addEqualSamples(track, count, offset, usual, firstFlags);
  let at = reader.position();
  let place = offset;
  const next = (isOwn: boolean, otherwise: number): number => {
    if (!isOwn) return otherwise;
    at += 4;
    return view.getUint32(at - 4);
  };
  for (let index = 0; index < count; index += 1) {
    const duration = next(own.duration, usual.duration);
    const size = next(own.size, usual.size);
    const ownFlags = next(own.flags, usual.flags);
    const delay = next(own.delay, 0) | 0;
    const sampleFlags = index === 0 && firstFlags !== null ? firstFlags : ownFlags;
    if (track !== undefined && place + size > track.limit) track.isCut = true;
    else if (track !== undefined) {
      const shownAt = track.decodedAt + delay;
      addSamples(track.timeline, shownAt, 1, duration);
      if (!(sampleFlags & isNoKeyframe) && track.acceptKeyframe(place, size))
        addKeyframe(track.timeline, shownAt);
      track.decodedAt += duration;
    }
    place += size;
  }
  if (track !== undefined) track.furthest = Math.max(track.furthest, Math.min(place, track.limit));
  return place;
}

/** A run with empty entries may claim four billion samples in 20 bytes: it costs one step. */
function addEqualSamples(
  track: FragmentTrack | undefined,
  count: number,
  offset: number,
  usual: FragmentDefaults,
  firstFlags: number | null,
): number {
  const end = offset + count * usual.size;
  if (track === undefined) return end;
  if (end > track.limit) {
    track.isCut = true;
    const there = Math.max(0, Math.floor((track.limit - offset) / usual.size));
    return there === 0 ? end : addEqualSamples(track, there, offset, usual, firstFlags);
  }
  const shownAt = track.decodedAt;
  const { timeline } = track;
  addSamples(timeline, shownAt, count, usual.duration);
  if (!((firstFlags ?? usual.flags) & isNoKeyframe) && track.acceptKeyframe(offset, usual.size))
    addKeyframe(timeline, shownAt);
  if (count > 1 && !(usual.flags & isNoKeyframe)) {
    addKeyframe(timeline, shownAt + usual.duration);
    timeline.maxGap = Math.max(timeline.maxGap, usual.duration);
    timeline.keyframes += count - 2;
    timeline.lastKeyframe = Math.max(timeline.lastKeyframe, shownAt + (count - 1) * usual.duration);
  }
  track.decodedAt += count * usual.duration;
  track.furthest = Math.max(track.furthest, end);
  return end;
}
