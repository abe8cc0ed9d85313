import type { LinkTarget } from "../api/links.ts";

/** What the links are of, as far as their settings need it. */
export interface Linked {
  readonly target: LinkTarget;
  readonly title: string;
  /** Of a recording that is open: its length, and where it plays now. In milliseconds. */
  readonly durationMs?: number;
  readonly nowMs?: () => number;
}
