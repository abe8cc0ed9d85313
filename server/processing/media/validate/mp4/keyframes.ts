import type { Bytes, Probe } from "../bytes.ts";
import { inspectSample, type PictureSize } from "./h264.ts";
import { createPicks, type Picks, walkPositions } from "./positions.ts";
import type { SampleTables } from "./tables.ts";
import { listedKeyframes, type SampleNumbers, type Timeline, tableTimeline } from "./timeline.ts";

/**
 * From this density on the list is suspicious: in encoders that write none, every frame is a keyframe by the standard.
 */
const suspiciousPerSec = 5;
/** Each probe may be a request to object storage, and validating a file may take 64 of them. */
const looks = { usual: 12, suspicious: 40 } as const;

/**
 * Probes some of the samples that the file lists as keyframes.
 * @param perSec how many of them there are.
 * @returns whether all of those are keyframes, and the picture sizes in the parameter sets between the samples.
 */
export function probeSamples(
  probe: Probe,
  picks: Picks,
  perSec: number,
  nalLengthBytes: number,
): { readonly isHonest: boolean; readonly sizes: readonly PictureSize[] } {
  const found = picks
    .take(perSec > suspiciousPerSec ? looks.suspicious : looks.usual)
    .map(({ offset, size }) => inspectSample(probe, offset, size, nalLengthBytes));
  return {
    isHonest: found.every(({ isKeyframe }) => isKeyframe),
    sizes: found.flatMap(({ sizes }) => sizes),
  };
}

/**
 * The timeline of an H.264 track with its actual keyframes: the listed ones if the probed ones are keyframes; otherwise
 * each listed one is probed and counts only if it is one.
 * @throws DamagedFileError, ReadFailedError
 */
export function measureH264(
  bytes: Bytes,
  probe: Probe,
  tables: SampleTables,
  timescale: number,
  nalLengthBytes: number,
): { timeline: Timeline; furthest: number; pictures: readonly PictureSize[] } {
  const picks = createPicks();
  const furthest = walkPositions(
    tables,
    onListed(tables, (_sample, offset, size) => picks.add(offset, size)),
  );
  const timeline = tableTimeline(tables);
  const perSec = (timeline.keyframes * timescale) / (timeline.end - timeline.start);
  // A truncated file is refused for that; its missing pictures prove nothing.
  if (furthest > bytes.size) return { timeline, furthest, pictures: [] };
  const { isHonest, sizes } = probeSamples(probe, picks, perSec, nalLengthBytes);
  if (isHonest) return { timeline, furthest, pictures: sizes };
  const found = new Uint32Array(tables.keyframes?.count ?? tables.sampleCount);
  let count = 0;
  const keep = onListed(tables, (sample, offset, size) => {
    if (!inspectSample(probe, offset, size, nalLengthBytes).isKeyframe) return;
    found[count] = sample;
    count += 1;
  });
  walkPositions(tables, keep);
  const values = found.subarray(0, count).values();
  const next: SampleNumbers = () => values.next().value ?? null;
  return { timeline: tableTimeline(tables, next), furthest, pictures: sizes };
}

/** Passes on the samples that are listed as keyframes. */
function onListed(tables: SampleTables, then: (sample: number, offset: number, size: number) => void) {
  const listed = listedKeyframes(tables);
  if (listed === "all") return then;
  let next = listed();
  return (sample: number, offset: number, size: number): void => {
    if (sample !== next) return;
    next = listed();
    then(sample, offset, size);
  };
}
