import { AV_CHANNEL_LAYOUT_STEREO } from "node-av/constants";
import type { Frame } from "node-av/lib";
import { openResampler } from "../encode/resample.ts";

/** Sample rate of what is mixed. */
export const mixRate = 48_000;
/** Gaps shorter than this are rounding, not silence: 50 ms. */
const minHole = mixRate / 20;
/** A track this far behind the others has no sound there, or its file is not interleaved. */
const maxLag = 30 * mixRate;
const blockSamples = mixRate / 10;

/** A track of the mixer. */
export interface MixTrack {
  /** @param sec when the frame begins in the mix; null: after the previous one. */
  push(frame: Frame, sec: number | null): void;
  end(): void;
}

/** A track's sound from `read` on, as left and right samples in turn. */
interface Buffered {
  samples: Int16Array;
  count: number;
  /** Where in the mix the first sample is. */
  at: number;
  isOpen: boolean;
}

/** Receives the sound of every track for the same stretch of time: left and right samples in turn. */
export type UseBlock = (tracks: readonly Int16Array[], samples: number) => void;

/**
 * Brings tracks of any format to the same time. What each track holds is bounded: after 30 s, a track without sound is taken
 * as silent.
 */
export function openMixer(use: UseBlock): {
  readonly openTrack: (startSec: number) => MixTrack;
  /** @param minSec how long the mix is at least. */
  readonly finish: (minSec: number) => void;
} {
  const tracks: Buffered[] = [];
  let done = 0;
  const blocks: Int16Array[] = [];

  const endOf = (track: Buffered): number => track.at + track.count;
  const emit = (until: number): void => {
    while (done < until) {
      const length = Math.min(blockSamples, until - done);
      for (const [index, track] of tracks.entries()) {
        const block = blocks[index] ?? new Int16Array(blockSamples * 2);
        blocks[index] = block.fill(0);
        take(track, done, length, block);
      }
      use(blocks, length);
      done += length;
    }
  };
  const drain = (): void => {
    const open = tracks.filter(({ isOpen }) => isOpen).map(endOf);
    const last = Math.max(done, ...tracks.map(endOf));
    emit(open.length === 0 ? last : Math.max(Math.min(...open), last - maxLag));
  };
  return {
    openTrack: (startSec) => {
      const track: Buffered = {
        samples: new Int16Array(mixRate),
        count: 0,
        at: Math.max(done, Math.round(startSec * mixRate)),
        isOpen: true,
      };
      tracks.push(track);
      const resampler = openResampler(mixRate, AV_CHANNEL_LAYOUT_STEREO);
      return {
        push: (frame, sec) => {
          const target = sec === null ? 0 : Math.round(sec * mixRate);
          if (target - endOf(track) >= minHole) silence(track, target, done);
          append(track, resampler.convert(frame), done);
          drain();
        },
        end: () => {
          append(track, resampler.convert(null), done);
          resampler.close();
          track.isOpen = false;
          drain();
        },
      };
    },
    finish: (minSec) => emit(Math.max(Math.round(minSec * mixRate), ...tracks.map(endOf))),
  };
}

/** Moves a track's end to a position; an empty track begins there. */
function silence(track: Buffered, target: number, done: number): void {
  if (track.count === 0) track.at = target;
  else append(track, new Int16Array(Math.min(target - track.at - track.count, maxLag) * 2), done);
}

/** Adds samples, except those of a time that has been mixed already. */
function append(track: Buffered, samples: Int16Array, done: number): void {
  const added = samples.length / 2;
  if (track.count === 0 && track.at < done) {
    const late = Math.min(added, done - track.at);
    track.at += late;
    if (late < added) append(track, samples.subarray(late * 2), done);
    return;
  }
  if ((track.count + added) * 2 > track.samples.length) {
    const larger = new Int16Array((track.count + added) * 4);
    larger.set(track.samples.subarray(0, track.count * 2));
    track.samples = larger;
  }
  track.samples.set(samples, track.count * 2);
  track.count += added;
}

/** Copies a stretch of a track into a block of silence, and removes everything before its end from the track. */
function take(track: Buffered, from: number, length: number, block: Int16Array): void {
  const start = Math.max(from, track.at);
  const end = Math.min(from + length, track.at + track.count);
  if (start < end)
    block.set(track.samples.subarray((start - track.at) * 2, (end - track.at) * 2), (start - from) * 2);
  const used = Math.min(track.count, Math.max(0, from + length - track.at));
  track.samples.copyWithin(0, used * 2, track.count * 2);
  track.at += used;
  track.count -= used;
}
