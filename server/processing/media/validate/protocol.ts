import type { MediaExpectation, MediaLimits, ValidationResult } from "../facts.ts";

/** The input of the validation thread. */
export interface Task {
  readonly size: number;
  /** Null: the thread requests bytes with `read`. */
  readonly path: string | null;
  readonly expectation: MediaExpectation;
  readonly limits: MediaLimits;
  /** Shared memory: a flag, a counter, then the bytes of the last read. The thread blocks on the flag. */
  readonly shared: SharedArrayBuffer;
}

/** A message of the validation thread. */
export type Message =
  /** Its code is loaded; later failures concern the file. */
  | { readonly type: "ready" }
  /** It waits for the bytes start..end, both inclusive, at most `maxReadBytes` of them. */
  | { readonly type: "read"; readonly start: number; readonly end: number }
  | { readonly type: "result"; readonly result: ValidationResult }
  /** The file cannot be read: there is no result. */
  | { readonly type: "unreadable"; readonly message: string };

/** Indexes at the beginning of the shared memory. */
export const slot = { ready: 0, progress: 1 } as const;
export const slotBytes = 8;
/** A four-hour file of 4 GiB has an index of 10 MB: three reads. */
export const maxReadBytes = 4 * 2 ** 20;
