import type { MediaFacts } from "../facts.ts";

/** What the child is asked to do; its only argument, as JSON. */
export type MediaJob =
  | {
      readonly task: "render";
      readonly inputPath: string;
      readonly outDir: string;
      readonly facts: MediaFacts;
      readonly watch: Watch;
    }
  | {
      readonly task: "speech";
      readonly inputPath: string;
      readonly outDir: string;
      readonly maxChunkSec: number;
      readonly overlapSec: number;
      readonly watch: Watch;
    }
  | {
      readonly task: "clip";
      readonly inputPath: string;
      readonly outDir: string;
      readonly format: "mp4" | "mp3";
      readonly startMs: number;
      readonly endMs: number;
      readonly watch: Watch;
    };

/** What the child's watchdog holds on to. */
export interface Watch {
  /** Process whose end ends the child. */
  readonly parentPid: number;
  /** Limit of the child's life, whatever the parent does. */
  readonly timeoutMs: number;
}

/** What a recording is served with. */
export interface RenderResult {
  /** The stored form, or null: the file that came in is served unchanged. */
  readonly mediaPath: string | null;
  readonly contentType: "video/mp4" | "audio/mpeg";
  readonly durationMs: number;
  /** Displayed size in pixels, after rotation; null for audio. */
  readonly width: number | null;
  readonly height: number | null;
  /** JPEG, at most 640 pixels wide; null for audio. */
  readonly thumbnail: { readonly path: string; readonly width: number; readonly height: number } | null;
  /** JSON: see `Waveform`. */
  readonly waveform: { readonly path: string };
  /** JPEG sheets and the JSON index of them: see `StoryboardIndex`. Null for audio. */
  readonly storyboard: { readonly indexPath: string; readonly paths: readonly string[] } | null;
  /** Milliseconds each stage took, for the log and the bench. */
  readonly stageMs: Readonly<Record<string, number>>;
}

/** The loudness of a recording over time: the content of the waveform file. */
export interface Waveform {
  readonly version: 1;
  readonly duration_ms: number;
  readonly peaks_per_second: number;
  /** Greatest absolute sample of each stretch in any channel, 0 to 255. Empty where there is no sound. */
  readonly peaks: readonly number[];
}

/**
 * Small pictures of a video for the scrubber. Tile i stands for the time i × interval_ms; it lies on sheet
 * floor(i / (columns × rows)), counted along the lines.
 */
export interface StoryboardIndex {
  readonly version: 1;
  readonly tile_width: number;
  readonly tile_height: number;
  readonly columns: number;
  /** Lines of a full sheet; the last sheet is cut after its last line. */
  readonly rows: number;
  readonly interval_ms: number;
  readonly count: number;
  /** File names of the sheets, in order. */
  readonly sheets: readonly string[];
  /** When the picture of each tile was really taken: the keyframe before its time. */
  readonly times_ms: readonly number[];
}

/** 16 kHz mono WAV pieces for a speech model. */
export interface SpeechResult {
  readonly durationMs: number;
  readonly chunks: readonly { readonly path: string; readonly startMs: number; readonly endMs: number }[];
}

/** What the child says, one JSON line each. */
export type ChildMessage =
  /** The libraries are loaded; what fails from here on has to do with the file. */
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly fraction: number }
  | { readonly type: "done"; readonly result: RenderResult | SpeechResult }
  /** The file is at fault. */
  | { readonly type: "failed"; readonly reason: string; readonly detail: string }
  /** The machine is at fault: no space, no permission, a library that does not load. */
  | { readonly type: "trouble"; readonly message: string };
