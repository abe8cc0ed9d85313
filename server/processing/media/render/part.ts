import type { Frame, Stream } from "node-av/lib";
import { newFrame } from "./libav.ts";

/** A part of a file, in seconds of its tracks' times; the end is exclusive. */
export interface Part {
  readonly startSec: number;
  readonly endSec: number;
}

/** Passes on the pictures of a part, with times from its start. */
export interface PictureFilter {
  push(frame: Frame): void;
  finish(): void;
  close(): void;
}

/**
 * The picture shown at the start of a part was usually drawn before it and stays until the next one, so each picture is
 * held until its duration is known. The last one stays until the end.
 */
export function picturesOf(source: Stream, part: Part, use: (frame: Frame) => void): PictureFilter {
  const { num, den } = source.timeBase;
  const ticks = (sec: number): bigint => BigInt(Math.round((sec * den) / num));
  const [start, end] = [ticks(part.startSec), ticks(part.endSec)];
  const held = newFrame();
  /** From the start of the part; null: no picture is held. */
  let heldAt: bigint | null = null;

  const release = (until: bigint): void => {
    if (heldAt === null) return;
    held.pts = heldAt;
    held.duration = until - heldAt;
    use(held);
    heldAt = null;
  };
  return {
    push: (frame) => {
      if (frame.pts >= end) return;
      const at = frame.pts <= start ? 0n : frame.pts - start;
      if (at > 0n) release(at);
      held.unref();
      held.ref(frame);
      heldAt = at;
    },
    finish: () => release(end - start),
    close: () => held.free(),
  };
}
