import type { ChunkTranscript } from "./transcriber.ts";

/** One chunk with where it lies in the recording. */
export interface PlacedChunk {
  readonly startMs: number;
  readonly endMs: number;
  readonly transcript: ChunkTranscript;
}

export interface MergedSegment {
  /** Whole milliseconds from the start of the recording; startMs <= endMs. */
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** `Unknown Speaker N`, N counting from 1 by first appearance; null: the model did not tell. */
  readonly speaker: string | null;
}

export interface MergedTranscript {
  /** The language in which most was said; null when no chunk tells. */
  readonly language: string | null;
  /** By start. */
  readonly segments: readonly MergedSegment[];
}

/** A segment on its way, in times of the recording. */
export interface Piece {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** Number of the speaker in the whole recording; null: not known. */
  readonly speaker: number | null;
}

/** A chunk in times and speakers of the recording. */
export interface NumberedChunk {
  readonly startMs: number;
  readonly endMs: number;
  readonly pieces: readonly Piece[];
}
