/** What the index of an MP4 file says of its tracks. */
export interface MovieIndex {
  /** Sample entry of the first video track, such as `avc1`; null without one. */
  readonly video: string | null;
  /** The same of the first audio track, such as `mp4a`. */
  readonly audio: string | null;
  /** Longest time without a new keyframe in the picture; null where the index doesn't tell, as of fragments. */
  readonly keyframeGapSec: number | null;
}

/** No more than this is read: the index of ten hours has some ten megabytes. */
const mostIndexBytes = 64 * 1024 * 1024;

/** Boxes at the beginning of a file before this gives up finding its index. */
const mostBoxes = 1000;

/**
 * Reads the index of an MP4 file (ISO/IEC 14496-12), wherever in the file it lies.
 * @returns null where there is none that can be read, which says nothing of the file.
 */
export async function readMovieIndex(file: File): Promise<MovieIndex | null> {
  try {
    const movie = await findMovie(file);
    return movie === null ? null : readTracks(movie);
  } catch {
    // A box that ends beyond the file, or bytes that can't be read: the server says what is wrong.
    return null;
  }
}

async function findMovie(file: File): Promise<DataView | null> {
  let at = 0;
  for (let count = 0; count < mostBoxes && at + 8 <= file.size; count++) {
    const head = new DataView(await file.slice(at, at + 16).arrayBuffer());
    const { type, size, headSize } = readHead(head, 0, file.size - at);
    if (size < headSize) return null;
    if (type === "moov")
      return size > mostIndexBytes
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
      gapSec: () => findGap(first(media, "mdhd"), first(table, "stts"), first(table, "stss")),
    };
  });
  const video = tracks.find(({ kind }) => kind === "vide");
  return {
    video: video?.codec ?? null,
    audio: tracks.find(({ kind }) => kind === "soun")?.codec ?? null,
    keyframeGapSec: video?.gapSec() ?? null,
  };
}

/** By the times of decoding, of which those of showing differ by next to nothing. */
function findGap(header: DataView | null, times: DataView | null, keyframes: DataView | null): number | null {
  if (header === null || times === null || times.getUint32(4) === 0) return null;
  const ticksPerSec = header.getUint32(header.getUint8(0) === 1 ? 20 : 12);
  // Without the list each picture is a keyframe.
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
  return ticksPerSec === 0 ? null : Math.max(gap, time - last) / ticksPerSec;
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

/** @param rest bytes from here to the end of what is around it: the size of a box that names none. */
function readHead(view: DataView, at: number, rest: number) {
  const short = view.getUint32(at);
  const type = fourLetters(view, at + 4);
  if (short === 1) return { type, size: Number(view.getBigUint64(at + 8)), headSize: 16 };
  return { type, size: short === 0 ? rest : short, headSize: 8 };
}

function fourLetters(view: DataView, at: number): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset + at, 4));
}
