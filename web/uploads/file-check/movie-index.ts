/** The tracks of an MP4 file, from its index. */
export interface MovieIndex {
  readonly videoTracks: number;
  /** Sample entry of the first video track, such as `avc1`; null without one. */
  readonly video: string | null;
  /** The same of the first audio track, such as `mp4a`. */
  readonly audio: string | null;
  /** Coded height, before rotation; null if missing. */
  readonly height: number | null;
  /** Whether every audio track is AAC; other codecs also use `mp4a`. */
  readonly isAac: boolean;
  /** Samples are listed in fragments throughout the file instead of the index. */
  readonly isFragmented: boolean;
  /** The longest time between keyframes; null if unknown, as in fragmented files. */
  readonly keyframeGapSec: number | null;
}

/** The largest index that is read; ten hours need about ten megabytes. */
const maxIndexBytes = 64 * 1024 * 1024;

/** The number of top-level boxes to search for the index. */
const maxBoxes = 1000;

/**
 * Reads the index of an MP4 file (ISO/IEC 14496-12), wherever in the file it lies.
 * @returns null if it can't be read; the file may still be valid.
 */
export async function readMovieIndex(file: File): Promise<MovieIndex | null> {
  try {
    const movie = await findMovie(file);
    return movie === null ? null : readTracks(movie);
  } catch {
    // A truncated or unreadable file: the server reports what is wrong.
    return null;
  }
}

async function findMovie(file: File): Promise<DataView | null> {
  let at = 0;
  for (let count = 0; count < maxBoxes && at + 8 <= file.size; count++) {
    const head = new DataView(await file.slice(at, at + 16).arrayBuffer());
    const { type, size, headSize } = readHead(head, 0, file.size - at);
    if (size < headSize) return null;
    if (type === "moov")
      return size > maxIndexBytes
        ? null
        : new DataView(await file.slice(at + headSize, at + size).arrayBuffer());
    at += size;
  }
  return null;
}

function readTracks(movie: DataView): MovieIndex {
  const tracks = [...boxes(movie, "trak")].map((track) => {
    const media = first(track, "mdia");
    const handler = first(media, "hdlr");
    const table = first(first(media, "minf"), "stbl");
    const entry = first(table, "stsd");
    return {
      kind: handler === null ? "" : fourLetters(handler, 8),
      codec: entry === null || entry.byteLength < 16 ? null : fourLetters(entry, 12),
      height: entry === null || entry.byteLength < 44 ? null : entry.getUint16(42),
      isAac: entry !== null && findObjectType(entry) === aacObjectType,
      gapSec: () => findGap(first(media, "mdhd"), first(table, "stts"), first(table, "stss")),
    };
  });
  const videos = tracks.filter(({ kind }) => kind === "vide");
  const audios = tracks.filter(({ kind }) => kind === "soun");
  const video = videos[0];
  return {
    videoTracks: videos.length,
    video: video?.codec ?? null,
    audio: audios[0]?.codec ?? null,
    height: video?.height ?? null,
    isAac: audios.length > 0 && audios.every(({ codec, isAac }) => codec === "mp4a" && isAac),
    isFragmented: first(movie, "mvex") !== null,
    keyframeGapSec: video?.gapSec() ?? null,
  };
}

/** MPEG-4 audio by the registry of object types (ISO/IEC 14496-1, 7.2.6.6). */
const aacObjectType = 0x40;

/** The object type in the `esds` box of a sample entry (ISO/IEC 14496-1, 7.2.6); null where there is none. */
function findObjectType(entry: DataView): number | null {
  let at = 16;
  while (at + 4 <= entry.byteLength && fourLetters(entry, at) !== "esds") at++;
  // The box's version and flags, then descriptors, each a tag, a length of one to four bytes, and its content.
  at += 8;
  const enter = (tag: number): boolean => {
    if (at >= entry.byteLength || entry.getUint8(at++) !== tag) return false;
    for (let count = 0; count < 4 && (entry.getUint8(at++) & 0x80) !== 0; count++);
    return true;
  };
  if (!enter(3)) return null;
  const flags = entry.getUint8(at + 2);
  at += 3 + (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + entry.getUint8(at + 3) : 0) + (flags & 0x20 ? 2 : 0);
  return enter(4) ? entry.getUint8(at) : null;
}

/** Uses decoding times, which differ from presentation times only slightly. */
function findGap(header: DataView | null, times: DataView | null, keyframes: DataView | null): number | null {
  if (header === null || times === null || times.getUint32(4) === 0) return null;
  const ticksPerSec = header.getUint32(header.getUint8(0) === 1 ? 20 : 12);
  // Without a keyframe table, every frame is a keyframe.
  if (keyframes === null) return 0;
  const count = keyframes.getUint32(4);
  let next = 0;
  let sample = 1;
  let time = 0;
  let last = 0;
  let gap = 0;
  for (let run = 0; run < times.getUint32(4); run++) {
    const samples = times.getUint32(8 + 8 * run);
    const duration = times.getUint32(12 + 8 * run);
    for (; next < count; next++) {
      const keyframe = keyframes.getUint32(8 + 4 * next);
      if (keyframe >= sample + samples) break;
      const shownAt = time + (keyframe - sample) * duration;
      gap = Math.max(gap, shownAt - last);
      last = shownAt;
    }
    sample += samples;
    time += samples * duration;
  }
  // The time after the last keyframe is not a gap between two.
  return ticksPerSec === 0 ? null : gap / ticksPerSec;
}

/** The boxes of one type directly within a box. */
function* boxes(parent: DataView, wanted: string): Generator<DataView> {
  for (let at = 0; at + 8 <= parent.byteLength; ) {
    const { type, size, headSize } = readHead(parent, at, parent.byteLength - at);
    if (size < headSize) return;
    if (type === wanted)
      yield new DataView(parent.buffer, parent.byteOffset + at + headSize, size - headSize);
    at += size;
  }
}

function first(parent: DataView | null, type: string): DataView | null {
  return parent === null ? null : (boxes(parent, type).next().value ?? null);
}

/** @param rest bytes to the end of the enclosing box: the size of a box with size 0. */
function readHead(view: DataView, at: number, rest: number) {
  const short = view.getUint32(at);
  const type = fourLetters(view, at + 4);
  if (short === 1) return { type, size: Number(view.getBigUint64(at + 8)), headSize: 16 };
  return { type, size: short === 0 ? rest : short, headSize: 8 };
}

function fourLetters(view: DataView, at: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, 4));
}
