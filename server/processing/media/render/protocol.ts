import type { Cause } from "../../../../contract/causes/causes.ts";
import type { ConvertedContainer } from "../../../../shared/files/media-formats.ts";
import type { Watch } from "../../../platform/confinement/watchdog.ts";
import type { MediaFacts } from "../../../platform/db/json-columns.ts";
import type { MeasuredMedia } from "../validate/measured.ts";

/** What becomes of several audio tracks: they are mixed, or also transcribed one by one, each as one speaker. */
export type AudioTracks = "mix" | "speakers";

/** The child's task; its only argument, as JSON. */
export type MediaJob =
  | {
      readonly task: "inspect";
      readonly inputPath: string;
      readonly outDir: string;
      readonly container: ConvertedContainer;
      /** The bytes that are the file; absent: all. */
      readonly range?: { readonly start: number; readonly end: number } | undefined;
      readonly watch: Watch;
    }
  | {
      readonly task: "render";
      readonly inputPath: string;
      readonly outDir: string;
      readonly facts: MediaFacts;
      readonly audioTracks?: AudioTracks | undefined;
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
    }
  | {
      readonly task: "companions";
      /** A file in its stored form. */
      readonly inputPath: string;
      readonly outDir: string;
      readonly format: "mp4" | "mp3";
      readonly durationMs: number;
      readonly watch: Watch;
    };

/**
 * What accompanies a recording; it may be missing. `speakers`: the sound of each speaker, for speech models; `all`: no
 * single one, because the work as a whole failed.
 */
export type Companion = "waveform" | "thumbnail" | "storyboard" | "speakers" | "all";

/** Why something that accompanies a recording could not be created, for the log. */
export interface CompanionFailure {
  readonly companion: Companion;
  readonly detail: string;
}

/** The files of a recording. */
export type RenderResult = StoredMedia & Companions;

/** A recording's media file. */
export interface StoredMedia {
  /** The stored form; null: the uploaded file is served unchanged. */
  readonly mediaPath: string | null;
  readonly contentType: "video/mp4" | "audio/mpeg";
  readonly durationMs: number;
  /** Displayed size in pixels, after rotation; null for audio. */
  readonly width: number | null;
  readonly height: number | null;
  /** The sound of each speaker in a channel of its own, for speech models; null: the speakers have no tracks. */
  readonly speechPath: string | null;
  /** Milliseconds each stage took, for the log and the bench. */
  readonly stageMs: Readonly<Record<string, number>>;
}

/** What a recording is shown with; null: it has none, or it failed. */
export interface Companions {
  /** JPEG, at most 640 pixels wide; null for audio. */
  readonly thumbnail: { readonly path: string; readonly width: number; readonly height: number } | null;
  /** JSON: see `Waveform`. */
  readonly waveform: { readonly path: string } | null;
  /** JPEG sheets and the JSON index of them: see `StoryboardIndex`. Null for audio. */
  readonly storyboard: { readonly indexPath: string; readonly paths: readonly string[] } | null;
  readonly failures: readonly CompanionFailure[];
}

/** The loudness of a recording over time: the content of the waveform file. */
export interface Waveform {
  readonly version: 1;
  readonly duration_ms: number;
  readonly peaks_per_second: number;
  /** Maximum absolute sample of each interval in any channel, 0 to 255. Empty without audio. */
  readonly peaks: readonly number[];
}

/**
 * Small pictures of a video for the scrubber. Tile i stands for the time i × interval_ms; it is on sheet floor(i /
 * (columns × rows)), row by row.
 */
export interface StoryboardIndex {
  readonly version: 1;
  readonly tile_width: number;
  readonly tile_height: number;
  readonly columns: number;
  /** Rows of a full sheet; the last sheet is cut after its last row. */
  readonly rows: number;
  readonly interval_ms: number;
  readonly count: number;
  /** File names of the sheets, in order. */
  readonly sheets: readonly string[];
  /** The actual time of each tile's picture: the keyframe before its nominal time. */
  readonly times_ms: readonly number[];
}

/** A chunk with its position in the recording. */
export interface SpeechChunk {
  readonly path: string;
  readonly startMs: number;
  readonly endMs: number;
  /** From 0; absent: all channels mixed. */
  readonly channel?: number;
}

/** 16 kHz mono WAV chunks for a speech model: of the mixed audio, or of each channel with a voice of its own. */
export interface SpeechResult {
  readonly durationMs: number;
  readonly chunks: readonly SpeechChunk[];
}

/** A message of the child, one JSON line each. */
export type ChildMessage =
  /** The libraries are loaded; later failures concern the file. */
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly fraction: number }
  /** The media file is complete; the result if the rest fails. */
  | { readonly type: "stored"; readonly result: RenderResult }
  | { readonly type: "done"; readonly result: RenderResult | Companions | SpeechResult | MeasuredMedia }
  /** The file is the cause. */
  | { readonly type: "failed"; readonly reason: string; readonly detail: string; readonly cause: Cause }
  /** The machine is the cause: no space, no permission, a library that does not load. */
  | { readonly type: "trouble"; readonly message: string };
