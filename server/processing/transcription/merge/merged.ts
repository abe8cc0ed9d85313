import type { ChunkTranscript, SpokenWord } from "../transcriber.ts";

/** A chunk's result with its position in the recording. */
export interface PlacedChunk {
  readonly startMs: number;
  readonly endMs: number;
  /** The channel with the speaker's voice; null or absent: all channels mixed. */
  readonly channel?: number | null;
  readonly transcript: ChunkTranscript;
}

export interface MergedSegment {
  /** Whole milliseconds from the start of the recording; startMs <= endMs. */
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** `Unknown Speaker N`, N counting from 1 by first appearance; null: the model did not say. */
  readonly speaker: string | null;
  /** The words, where the model timed them, in times of the recording. */
  readonly words?: readonly SpokenWord[];
}

export interface MergedTranscript {
  /** The language of most of the text; null when no chunk has one. */
  readonly language: string | null;
  /** By start. */
  readonly segments: readonly MergedSegment[];
  /** How many segments were left out because they repeat others over and over. */
  readonly repeated: number;
}

/** An intermediate segment, in times of the recording. */
export interface Piece {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
  /** Number of the speaker in the whole recording; null: unknown. */
  readonly speaker: number | null;
  readonly words?: readonly SpokenWord[];
}

/** A chunk in times and speakers of the recording. */
export interface NumberedChunk {
  readonly startMs: number;
  readonly endMs: number;
  readonly pieces: readonly Piece[];
}
