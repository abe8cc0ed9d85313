/** Containers that Parley understands. */
export type MediaContainer = "mp4" | "mov" | "m4a" | "mp3";

/** What is being judged: what the upload says it is. `one_step`: a file of the older upload operation. */
export type MediaExpectation =
  | { readonly kind: "video" }
  | { readonly kind: "audio" }
  | { readonly kind: "one_step"; readonly extension: "mov" | "mp4" | "mp3" | "m4a" };

export interface MediaLimits {
  /** Seconds. */
  readonly maxDurationSec: number;
  readonly maxBytes: number;
}

/** What was measured in a good file; kept with the upload as JSON. */
export interface MediaFacts {
  readonly container: MediaContainer;
  /** Whether it becomes a video or an audio recording. */
  readonly mediaType: "video" | "audio";
  readonly durationMs: number;
  readonly sizeBytes: number;
  /** Null for audio. Displayed size in pixels, after rotation. */
  readonly video: {
    readonly codec: string;
    readonly width: number;
    readonly height: number;
    /** Degrees clockwise: 0, 90, 180 or 270. */
    readonly rotation: number;
    /** Longest time between two keyframes, in ms. */
    readonly maxKeyframeGapMs: number;
  } | null;
  /** Null where a one-step video has no sound. */
  readonly audio: { readonly codec: string; readonly channels: number; readonly sampleRate: number } | null;
  /** Whether the index stands before the media, so that it plays while it loads (always true for mp3). */
  readonly isFastStart: boolean;
  /** Whether the file can be served as it is; otherwise it has to be remuxed or transcoded. */
  readonly isStoredForm: boolean;
}

export type Judgement =
  | { readonly ok: true; readonly facts: MediaFacts }
  /** Every broken rule in words for people: measured value, limit, remedy. */
  | { readonly ok: false; readonly reason: string };

/** Bytes of the file to be judged, wherever they are. */
export interface MediaSource {
  readonly size: number;
  /** Path on this machine, or null: then `read` is used. */
  readonly path: string | null;
  /** Bytes start..end, both included. */
  read(start: number, end: number): Promise<Uint8Array>;
}
