import { fileCause } from "../../../../../contract/causes/files.ts";
import type { MediaContainer } from "../../../../../shared/files/media-formats.ts";
import { titleInFile } from "../../../../../shared/files/title-in-file.ts";
import { plausibleTime } from "../../plausible-time.ts";
import type { Bytes, Probe } from "../bytes.ts";
import { DamagedFileError } from "../errors.ts";
import type { MeasuredAudio, MeasuredMedia, MeasuredVideo } from "../measured.ts";
import { type Box, cutOff, fourLetters, indexDamaged, topLevelBoxes } from "./boxes.ts";
import { type FragmentTrack, readFragment } from "./fragments.ts";
import { inspectSample, type PictureSize } from "./h264.ts";
import { measureH264, probeSamples } from "./keyframes.ts";
import { readMovie, type Track } from "./movie.ts";
import { createPicks, walkPositions } from "./positions.ts";
import { keyframeGap, presentation, type Timeline, tableTimeline } from "./timeline.ts";

/** The index of a twelve-hour recording at 60 pictures a second has 45 MB. */
const maxIndexBytes = 128 * 2 ** 20;
/** From 1904, where the format's times begin, to 1970. */
const epochOffsetSec = 2_082_844_800;
/** A day at 240 pictures a second. */
const maxPictures = 32_000_000;

/**
 * Measures an mp4, mov or m4a file by its sample tables and fragments alone; durations in headers are not trusted. The
 * work is bounded by the length of the tables, whatever numbers they contain.
 * @throws DamagedFileError, ReadFailedError
 */
export function measureIso(
  bytes: Bytes,
  probe: Probe,
  { keepsBeginning = false }: { readonly keepsBeginning?: boolean } = {},
): MeasuredMedia {
  const layout = readLayout(bytes, probe);
  const index = new Uint8Array(layout.moov.end - layout.moov.start);
  bytes.readInto(index, layout.moov.start);
  const movie = readMovie(index);
  const listed = movie.tracks.map((track) => measureTables(bytes, probe, track));
  const isFragmented = movie.isOpen && layout.firstFragment !== null;
  const tracks = isFragmented
    ? addFragments(bytes, probe, listed, layout.firstFragment ?? 0, keepsBeginning)
    : listed;
  const there = tracks.filter(({ timeline }) => timeline.samples > 0);
  const furthest = Math.max(0, ...there.map((measured) => measured.furthest));
  if (furthest > bytes.size) throw cutOff(bytes.size, furthest);
  const shown = there.filter(({ track, timeline }) => !isStillPicture(track, timeline));
  // Only what can be in the recording decides how long it is.
  const decodable = shown.filter(({ track }) => track.entries.every((entry) => entry.isDecodable));
  const times = (decodable.length > 0 ? decodable : shown).map(({ track, timeline }) =>
    presentation(
      timeline.start / track.timescale,
      timeline.end / track.timescale,
      track.edits,
      1 / movie.timescale,
      isFragmented,
    ),
  );
  const durationSec =
    times.length === 0
      ? 0
      : Math.max(...times.map(({ endSec }) => endSec)) - Math.min(...times.map(({ startSec }) => startSec));
  const videos = shown.filter(({ track }) => track.kind === "video").map(toVideo);
  return {
    container: containerOf(layout.brand, videos.length > 0),
    sizeBytes: bytes.size,
    durationSec,
    videos,
    title: titleInFile(movie.title, movie.program),
    endsEarly: isFragmented ? endsEarly(tracks, movie.statedSec, durationSec) : undefined,
    startedAt: plausibleTime((movie.createdAt - epochOffsetSec) * 1000),
    audios: shown.filter(({ track }) => track.kind === "audio").map(({ track }) => toAudio(track)),
    isFastStart: layout.mediaStart === null || layout.moov.start < layout.mediaStart,
    isFragmented,
  };
}

/** Rounding and the tracks' different ends make no difference. */
const maxMissingSec = 1;

function endsEarly(
  tracks: readonly MeasuredTrack[],
  statedSec: number,
  durationSec: number,
): MeasuredMedia["endsEarly"] {
  const isShort = statedSec > durationSec * 1.01 + maxMissingSec;
  if (!isShort && !tracks.some(({ isCut }) => isCut)) return undefined;
  return { expectedSec: isShort ? statedSec : null };
}

interface Layout {
  readonly brand: string | null;
  readonly moov: Box;
  /** Of the first `mdat` and `moof`. */
  readonly mediaStart: number | null;
  readonly firstFragment: number | null;
}

function readLayout(bytes: Bytes, probe: Probe): Layout {
  let brand: string | null = null;
  let moov: Box | null = null;
  let mediaStart: number | null = null;
  for (const box of topLevelBoxes(bytes, probe)) {
    if (box.type === "ftyp" && brand === null && box.end - box.bodyStart >= 4) {
      const head = probe(box.bodyStart, 4);
      if (head.length === 4) brand = fourLetters(new DataView(head.buffer, head.byteOffset, 4), 0);
    }
    if (box.type === "mdat") mediaStart ??= box.start;
    if (box.type === "moov" && moov === null) {
      if (box.end > bytes.size) throw cutOff(bytes.size, box.end);
      if (box.end - box.start > maxIndexBytes) throw indexDamaged("it is larger than any recording needs");
      moov = box;
    }
    // Fragments are read one by one later: reading their headers now would double the work.
    if (box.type === "moof" && moov !== null) return { brand, moov, mediaStart, firstFragment: box.start };
  }
  if (moov === null)
    throw new DamagedFileError(
      "The file has no index (moov): it was probably cut off, or the recording was never finished. " +
        "Send the whole file, or export the recording again.",
      fileCause("file_incomplete", {}),
    );
  return { brand, moov, mediaStart, firstFragment: null };
}

interface MeasuredTrack {
  readonly track: Track;
  readonly timeline: Timeline;
  /** End position of the sample that ends last. */
  readonly furthest: number;
  /** Whether samples are missing at its end. */
  readonly isCut?: boolean;
  /** Picture sizes found between the samples. */
  readonly pictures: readonly PictureSize[];
}

function measureTables(bytes: Bytes, probe: Probe, track: Track): MeasuredTrack {
  const { tables } = track;
  const nalLengthBytes = lengthOfNals(track);
  if (nalLengthBytes === null)
    return { track, timeline: tableTimeline(tables), furthest: walkPositions(tables), pictures: [] };
  if (tables.sampleCount > maxPictures) throw indexDamaged(`it lists ${tables.sampleCount} video frames`);
  return { track, ...measureH264(bytes, probe, tables, track.timescale, nalLengthBytes) };
}

/** Null for a track that is not H.264. */
function lengthOfNals(track: Track): number | null {
  return track.entries.find((entry) => entry.nalLengthBytes !== null)?.nalLengthBytes ?? null;
}

/** Adds fragments; if listed keyframes turn out not to be any, reads them once more and probes each. */
function addFragments(
  bytes: Bytes,
  probe: Probe,
  tracks: readonly MeasuredTrack[],
  start: number,
  keepsBeginning: boolean,
): MeasuredTrack[] {
  const picked = new Map(tracks.map(({ track }) => [track, createPicks()]));
  const limit = keepsBeginning ? bytes.size : Number.POSITIVE_INFINITY;
  const believed = walkFragments(bytes, probe, { tracks, start, limit }, (track) => (offset, size) => {
    picked.get(track)?.add(offset, size);
    return true;
  });
  const isCutOff = believed.some(({ furthest }) => furthest > bytes.size);
  const looks = new Map(
    believed.map(({ track, timeline }) => {
      const nalLengthBytes = lengthOfNals(track);
      const picks = picked.get(track);
      if (nalLengthBytes === null || picks === undefined || isCutOff) return [track, null];
      const perSec = (timeline.keyframes * track.timescale) / (timeline.end - timeline.start);
      return [track, probeSamples(probe, picks, perSec, nalLengthBytes)];
    }),
  );
  const isHonest = [...looks.values()].every((look) => look?.isHonest ?? true);
  const found = isHonest
    ? believed
    : walkFragments(bytes, probe, { tracks, start, limit }, (track) => {
        const nalLengthBytes = lengthOfNals(track);
        if (nalLengthBytes === null) return () => true;
        return (offset, size) => inspectSample(probe, offset, size, nalLengthBytes).isKeyframe;
      });
  return found.map((measured) => ({
    ...measured,
    pictures: [...measured.pictures, ...(looks.get(measured.track)?.sizes ?? [])],
  }));
}

function walkFragments(
  bytes: Bytes,
  probe: Probe,
  { tracks, start, limit }: { tracks: readonly MeasuredTrack[]; start: number; limit: number },
  acceptance: (track: Track) => FragmentTrack["acceptKeyframe"],
): MeasuredTrack[] {
  const growing = tracks.map(
    ({ track, timeline, furthest }): FragmentTrack => ({
      id: track.id,
      defaults: track.defaults,
      timeline: { ...timeline },
      decodedAt: timeline.samples > 0 ? timeline.end : 0,
      furthest,
      limit,
      isCut: false,
      acceptKeyframe: acceptance(track),
    }),
  );
  const byId = new Map(growing.map((track) => [track.id, track]));
  for (const box of topLevelBoxes(bytes, probe, start))
    if (box.type === "moof") readFragment(bytes, box, byId);
  return tracks.map((measured, index) => ({
    ...measured,
    timeline: growing[index]?.timeline ?? measured.timeline,
    furthest: growing[index]?.furthest ?? measured.furthest,
    isCut: growing[index]?.isCut ?? false,
  }));
}

function toVideo({ track, timeline, pictures }: MeasuredTrack): MeasuredVideo {
  const sizes = [...track.entries, ...pictures];
  const width = Math.max(...sizes.map((size) => size.width));
  const height = Math.max(...sizes.map((size) => size.height));
  const isSideways = track.rotation % 180 === 90;
  return {
    codec: codecOf(track),
    isDecodable: track.entries.every((entry) => entry.isDecodable),
    width: isSideways ? height : width,
    height: isSideways ? width : height,
    codedHeight: height,
    rotation: track.rotation,
    maxKeyframeGapSec: keyframeGap(timeline) / track.timescale,
  };
}

function toAudio(track: Track): MeasuredAudio {
  return {
    codec: codecOf(track),
    isDecodable: track.entries.every((entry) => entry.isDecodable),
    channels: track.entries[0]?.channels ?? 0,
    sampleRate: track.entries[0]?.sampleRate ?? 0,
  };
}

function codecOf(track: Track): string {
  return [...new Set(track.entries.map((entry) => entry.codec))].join(" and ");
}

/** Cover art is a track with one picture; chapter pictures are a few. */
function isStillPicture(track: Track, timeline: Timeline): boolean {
  return (
    track.kind === "video" &&
    (track.isChapterPictures ||
      (timeline.samples <= 1 && track.entries.every(({ codec }) => codec === "mjpeg" || codec === "png")))
  );
}

function containerOf(brand: string | null, hasVideo: boolean): MediaContainer {
  // A file without a brand predates ISO's format: QuickTime.
  if (brand === null || brand === "qt  ") return "mov";
  return !hasVideo && /^M4[AB]/.test(brand) ? "m4a" : "mp4";
}
