import type { UsedSpeechModel } from "../../../contract/transcripts/transcript-history.ts";
import type { AudioSample } from "./sample.ts";

/** A chunk of a recording's audio as a file on this machine: 16 kHz mono WAV. */
export interface AudioChunk {
  readonly path: string;
  /** Milliseconds from the start of the recording. */
  readonly startMs: number;
  readonly endMs: number;
  /** Whether nobody speaks in it; absent: not known. */
  readonly isSilent?: boolean;
  /** From 0, where each channel carries one voice; absent: all channels mixed. */
  readonly channel?: number;
}

/** A continuous piece of speech. */
export interface SpokenSegment {
  /** Milliseconds from the start of the chunk; whole numbers, 0 <= startMs <= endMs <= length of the chunk. */
  readonly startMs: number;
  readonly endMs: number;
  /** Never empty. */
  readonly text: string;
  /** The model's label for the speaker, valid only within its chunk; null: the model gives none. */
  readonly speaker: string | null;
  /** Its words, where the model timed them. */
  readonly words?: readonly SpokenWord[];
}

/** A word with its time. */
export interface SpokenWord {
  /** As of a segment; no word begins before the previous one or reaches into the next. */
  readonly startMs: number;
  readonly endMs: number;
  /** Without spaces around it; with its punctuation. */
  readonly text: string;
}

/** The transcription of one chunk; stored as JSON until all chunks are done. */
export interface ChunkTranscript {
  /** Language code such as `en`; null: the model gives none. */
  readonly language: string | null;
  /** Length of the audio as the model measured it. */
  readonly durationMs: number | null;
  /** In order of their starts; empty when nobody speaks. */
  readonly segments: readonly SpokenSegment[];
  /** Passages whose text was dropped because there is no clear speech in them; absent: none. */
  readonly unclear?: number;
  /** Words outside the segments: models that time each word return these instead. */
  readonly words?: readonly SpokenWord[];
  /** Labels that stand for speakers of earlier chunks. */
  readonly known?: readonly KnownLabel[];
  /** What the model was given; absent: of an earlier version. */
  readonly used?: UsedSpeechModel;
}

/** A label of a speaker whose voice the model was given. */
interface KnownLabel {
  /** The model's label for the speaker in this chunk. */
  readonly name: string;
  /** The chunk in which the speaker was first heard, and the label there. */
  readonly position: number;
  readonly label: string;
}

/** A speaker of an earlier chunk, with a sample of the voice. */
export interface KnownSpeaker extends KnownLabel {
  readonly sample: AudioSample;
}

export interface TranscribeOptions {
  /** Language code; null: the model detects it. */
  readonly language: string | null;
  /** Names and terms that the model should know, the most important first. */
  readonly vocabulary?: readonly string[];
  /** Speakers of earlier chunks, for models that can recognize them. */
  readonly known?: readonly KnownSpeaker[];
  /** 0 to 1, for models that report it. */
  readonly onProgress?: (fraction: number) => void;
  /** Called with what `open` waits for, for users to read. */
  readonly onWait?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/** A speech model, wherever it runs. */
export interface Transcriber {
  /** Whether it uses samples of known speakers. */
  readonly recognizesSpeakers?: boolean;
  /**
   * @throws ModelServerError when there is no usable response; the signal's reason when
   * aborted; file system errors when the audio can't be read.
   */
  transcribe(audio: AudioChunk, options: TranscribeOptions): Promise<ChunkTranscript>;
  /**
   * Prepares for the chunks of one recording, such as by starting a process; absent: no preparation is needed.
   * @param folder with the chunks.
   */
  open?(folder: string, options: TranscribeOptions): Promise<OpenTranscriber>;
}

/** A speech model for one recording. */
export interface OpenTranscriber extends Transcriber {
  close(): Promise<void>;
}
