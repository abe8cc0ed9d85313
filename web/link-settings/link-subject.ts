import type { LinkTarget } from "../api/public-links.ts";

/** What the links show, as far as their settings need it. */
export interface LinkSubject {
  readonly target: LinkTarget;
  readonly title: string;
  /** For an open recording: its duration and playback position, in milliseconds. */
  readonly durationMs?: number;
  readonly nowMs?: () => number;
}
