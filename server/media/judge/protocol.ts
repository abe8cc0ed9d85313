import type { Judgement, MediaExpectation, MediaLimits } from "../facts.ts";

/** What the judging thread is given. */
export interface Task {
  readonly size: number;
  /** Null: bytes are asked for with `read`. */
  readonly path: string | null;
  readonly expectation: MediaExpectation;
  readonly limits: MediaLimits;
  /**
   * Shared memory: `answered` and `progress`, then the bytes of the last answer. The thread waits on `answered`
   * without running anything else.
   */
  readonly shared: SharedArrayBuffer;
}

/** What the judging thread says. */
export type Message =
  /** Its code is loaded; what fails from here on is due to the file. */
  | { readonly type: "ready" }
  /** It waits for the bytes start..end, both included, at most `maxReadBytes` of them. */
  | { readonly type: "read"; readonly start: number; readonly end: number }
  | { readonly type: "judged"; readonly judgement: Judgement }
  /** The file cannot be read: nothing is said about it. */
  | { readonly type: "unreadable"; readonly message: string };

/** Numbers at the beginning of the shared memory. */
export const slot = { answered: 0, progress: 1 } as const;
export const slotBytes = 8;
/** A four-hour file of 4 GiB has an index of 10 MB: three reads. */
export const maxReadBytes = 4 * 2 ** 20;
