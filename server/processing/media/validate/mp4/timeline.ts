import type { SampleTables } from "./tables.ts";

/** When the samples of a track are shown, in ticks of the track; filled in decoding order. */
export interface Timeline {
  samples: number;
  keyframes: number;
  /** First sample shown; Infinity before the first. */
  start: number;
  /** End of the sample that ends last. */
  end: number;
  lastKeyframe: number;
  /** Longest time between two keyframes. */
  maxGap: number;
}

function emptyTimeline(): Timeline {
  return {
    samples: 0,
    keyframes: 0,
    start: Number.POSITIVE_INFINITY,
    end: Number.NEGATIVE_INFINITY,
    lastKeyframe: Number.NEGATIVE_INFINITY,
    maxGap: 0,
  };
}

/** Adds `count` samples of one duration, the first of them shown at `shownAt`. */
export function addSamples(line: Timeline, shownAt: number, count: number, duration: number): void {
  line.samples += count;
  if (shownAt < line.start) line.start = shownAt;
  const end = shownAt + count * duration;
  if (end > line.end) line.end = end;
}

export function addKeyframe(line: Timeline, shownAt: number): void {
  if (line.keyframes > 0 && shownAt - line.lastKeyframe > line.maxGap)
    line.maxGap = shownAt - line.lastKeyframe;
  line.keyframes += 1;
  if (shownAt > line.lastKeyframe) line.lastKeyframe = shownAt;
}

/** Adds samples of the same duration that are all keyframes, however many. */
function addKeyframes(line: Timeline, shownAt: number, count: number, duration: number): void {
  addKeyframe(line, shownAt);
  if (count <= 1) return;
  line.maxGap = Math.max(line.maxGap, duration);
  line.lastKeyframe = Math.max(line.lastKeyframe, shownAt + (count - 1) * duration);
  line.keyframes += count - 1;
}

/** Longest time between two keyframes; the whole track if it has none, since no part of it can be shown. */
export function keyframeGap(line: Timeline): number {
  if (line.samples === 0) return 0;
  return line.keyframes === 0 ? line.end - line.start : line.maxGap;
}

/** Ascending sample numbers from 1, one by one; null at the end. */
export type SampleNumbers = () => number | null;

export function listedKeyframes({ view, keyframes }: SampleTables): SampleNumbers | "all" {
  if (keyframes === null) return "all";
  let entry = 0;
  return () => {
    if (entry >= keyframes.count) return null;
    entry += 1;
    return view.getUint32(keyframes.at + 4 * (entry - 1));
  };
}

/**
 * The timeline of sample tables. Works on runs: the cost depends on the length of the tables, not on the numbers in
 * them.
 */
export function tableTimeline(
  tables: SampleTables,
  keyframes: SampleNumbers | "all" = listedKeyframes(tables),
): Timeline {
  const { view, durations, delays } = tables;
  const line = emptyTimeline();
  const next = keyframes === "all" ? () => null : keyframes;
  let keyframe = next();
  let sample = 1;
  let decodedAt = 0;
  let delayEntry = 0;
  let delayLeft = 0;
  let delay = 0;
  for (let entry = 0; entry < durations.count; entry += 1) {
    let left = view.getUint32(durations.at + 8 * entry);
    const duration = view.getUint32(durations.at + 8 * entry + 4);
    while (left > 0) {
      while (delayLeft === 0 && delays !== null && delayEntry < delays.count) {
        delayLeft = view.getUint32(delays.at + 8 * delayEntry);
        // Version 0 says unsigned; writers put negative numbers there all the same.
        delay = view.getInt32(delays.at + 8 * delayEntry + 4);
        delayEntry += 1;
      }
      const count = delayLeft === 0 ? left : Math.min(left, delayLeft);
      const shownAt = decodedAt + (delayLeft === 0 ? 0 : delay);
      addSamples(line, shownAt, count, duration);
      if (keyframes === "all") addKeyframes(line, shownAt, count, duration);
      while (keyframe !== null && keyframe < sample + count) {
        addKeyframe(line, shownAt + (keyframe - sample) * duration);
        keyframe = next();
      }
      sample += count;
      decodedAt += count * duration;
      left -= count;
      if (delayLeft > 0) delayLeft -= count;
    }
  }
  return line;
}

/** One entry of an edit list (`elst`): seconds of the movie, and its start in the media (null: nothing shown). */
export interface Edit {
  readonly durationSec: number;
  readonly mediaStartSec: number | null;
}

/**
 * When a player shows a track, in seconds of the movie. An edit shows no more than exists: an hour over eight seconds
 * of media shows eight seconds.
 * @param toleranceSec one tick of the movie's clock, by which edits are rounded.
 * @param isOpen whether fragments follow, which the edit list does not cover.
 */
export function presentation(
  mediaStartSec: number,
  mediaEndSec: number,
  edits: readonly Edit[],
  toleranceSec: number,
  isOpen: boolean,
): { readonly startSec: number; readonly endSec: number } {
  const firstShown = edits.findIndex((edit) => edit.mediaStartSec !== null);
  if (firstShown < 0) return { startSec: mediaStartSec, endSec: mediaEndSec };
  const leadSec = edits.slice(0, firstShown).reduce((sum, edit) => sum + edit.durationSec, 0);
  if (isOpen) {
    const shiftSec = leadSec - (edits[firstShown]?.mediaStartSec ?? 0);
    return { startSec: Math.max(leadSec, mediaStartSec + shiftSec), endSec: mediaEndSec + shiftSec };
  }
  let shownSec = 0;
  let pausesSec = 0;
  for (const edit of edits.slice(firstShown)) {
    if (edit.mediaStartSec === null) pausesSec += edit.durationSec;
    else {
      const thereSec = Math.max(0, mediaEndSec - Math.max(edit.mediaStartSec, mediaStartSec));
      const isRest = edit.durationSec === 0 || edit.durationSec >= thereSec - toleranceSec;
      shownSec += isRest ? thereSec : edit.durationSec;
    }
  }
  const mediaSec = mediaEndSec - mediaStartSec;
  return { startSec: leadSec, endSec: leadSec + Math.min(shownSec, mediaSec) + pausesSec };
}
