/** A piece of a recording's sound as a file on this machine: 16 kHz mono WAV. */
export interface AudioChunk {
  readonly path: string;
  /** Milliseconds from the start of the recording. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Something that was said in one go. */
export interface SpokenSegment {
  /** Milliseconds from the start of the chunk; whole numbers, 0 <= startMs <= endMs <= length of the chunk. */
  readonly startMs: number;
  readonly endMs: number;
  /** Never empty. */
  readonly text: string;
  /** What the model calls the speaker; only means something within its chunk. Null: the model does not tell. */
  readonly speaker: string | null;
}

/** What was heard in one chunk; kept as JSON until all of them are there. */
export interface ChunkTranscript {
  /** Language code such as `en`; null: the model does not tell. */
  readonly language: string | null;
  /** Length of the audio as the model sees it. */
  readonly durationMs: number | null;
  /** In the order of their starts; none when nobody speaks. */
  readonly segments: readonly SpokenSegment[];
}

export interface TranscribeOptions {
  /** Language code; null: the model finds out. */
  readonly language: string | null;
  /** Words that the model should know, such as names. */
  readonly prompt?: string;
  readonly signal?: AbortSignal;
}

/** A speech model, wherever it runs. */
export interface Transcriber {
  /**
   * @throws TranscriptionError when the model does not answer or its answer makes no sense; the signal's reason when
   * aborted; file system errors when the audio can't be read.
   */
  transcribe(audio: AudioChunk, options: TranscribeOptions): Promise<ChunkTranscript>;
}

/** A speech model that could not do its work. The message is for people and holds no secret. */
export class TranscriptionError extends Error {
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** How long the server asked to wait; null: it did not say. */
  readonly retryAfterMs: number | null;

  constructor(
    message: string,
    options: { isRetryable: boolean; retryAfterMs?: number | null; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.isRetryable = options.isRetryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
