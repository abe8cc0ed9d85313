import type { Bytes, Glance } from "../bytes.ts";
import { inspectSample, type PictureSize } from "./h264.ts";
import { createPicks, type Picks, walkPositions } from "./positions.ts";
import type { SampleTables } from "./tables.ts";
import { listedKeyframes, type SampleNumbers, type Timeline, tableTimeline } from "./timeline.ts";

/** From here on the list is suspicious: encoders that write none make every frame a keyframe by the standard. */
const suspiciousPerSec = 5;
/** Each look may be a request to object storage, and judging a file may take 64 of them. */
const looks = { usual: 12, suspicious: 40 } as const;

/**
 * Looks into some of the samples that the file calls keyframes.
 * @param perSec how many of them there are.
 * @returns whether all of those are keyframes, and the pictures' sizes by the parameter sets between the samples.
 */
export function lookInto(
  glance: Glance,
  picks: Picks,
  perSec: number,
  nalLengthBytes: number,
): { readonly isHonest: boolean; readonly sizes: readonly PictureSize[] } {
  const found = picks
    .take(perSec > suspiciousPerSec ? looks.suspicious : looks.usual)
    .map(({ offset, size }) => inspectSample(glance, offset, size, nalLengthBytes));
  return {
    isHonest: found.every(({ isKeyframe }) => isKeyframe),
    sizes: found.flatMap(({ sizes }) => sizes),
  };
}

/**
 * The timeline of an H.264 track with its true keyframes: those it lists, when the ones looked into are some;
 * otherwise each listed one is looked into and counts only if it is one.
 * @throws DamagedFileError, ReadFailedError
 */
export function measureH264(
  bytes: Bytes,
  glance: Glance,
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
  // A file that was cut off is refused for that; its missing pictures tell nothing.
  if (furthest > bytes.size) return { timeline, furthest, pictures: [] };
  const { isHonest, sizes } = lookInto(glance, picks, perSec, nalLengthBytes);
  if (isHonest) return { timeline, furthest, pictures: sizes };
  const found = new Uint32Array(tables.keyframes?.count ?? tables.sampleCount);
  let count = 0;
  const keep = onListed(tables, (sample, offset, size) => {
    if (!inspectSample(glance, offset, size, nalLengthBytes).isKeyframe) return;
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
