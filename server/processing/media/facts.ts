import type { Cause } from "../../../contract/causes/causes.ts";
import type { MediaFacts } from "../../platform/db/json-columns.ts";

/**
 * The file that an upload announces. `one_step`: a file of the older upload operation. `any`: whatever can be converted.
 */
export type MediaExpectation =
  | { readonly kind: "video" }
  | { readonly kind: "audio" }
  | { readonly kind: "one_step"; readonly extension: "mov" | "mp4" | "mp3" | "m4a" }
  | { readonly kind: "any" };

export interface MediaLimits {
  /** Seconds. */
  readonly maxDurationSec: number;
  /** Absent: that of the contract. */
  readonly minDurationSec?: number;
  readonly maxBytes: number;
}

export type ValidationResult =
  | { readonly ok: true; readonly facts: MediaFacts }
  /** Every violated requirement in words for users: measured value, limit, remedy. */
  | ({ readonly ok: false; readonly reason: string; readonly causes: readonly Cause[] } & FailureFacts);

/** What else is known about a file that failed: for admins and the log. */
export interface FailureFacts {
  /** What the media libraries reported. */
  readonly detail?: string | undefined;
  readonly container?: string | undefined;
  readonly bytes?: number | undefined;
}

/** The file to validate, wherever it is stored. */
export interface MediaSource {
  readonly size: number;
  /** Path on this machine, or null: then `read` is used. */
  readonly path: string | null;
  /** Bytes start..end, both included. */
  read(start: number, end: number): Promise<Uint8Array>;
}
