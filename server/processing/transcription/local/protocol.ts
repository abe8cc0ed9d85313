import { z } from "zod";
import { maxMilliseconds } from "../../../../shared/transcripts/transcript-limits.ts";
import type { PartVoices } from "../speakers/assign.ts";
import type { ChunkTranscript } from "../transcriber.ts";

/** A recognition model as the engine's process opens it: paths of its files. */
export type RecognitionModel =
  | {
      readonly kind: "transducer";
      readonly encoder: string;
      readonly decoder: string;
      readonly joiner: string;
      readonly tokens: string;
      /** Words that are preferred; none: the fastest decoding. */
      readonly hotwords: readonly string[];
    }
  | {
      readonly kind: "whisper";
      readonly encoder: string;
      readonly decoder: string;
      readonly tokens: string;
      /** Code of the language; null: the model detects it. */
      readonly language: string | null;
    };

/** The model that turns a voice into numbers. */
interface SpeakerModel {
  readonly kind: "speakers";
  readonly embedding: string;
}

/** Only the detector of speech, which is part of the engine. */
interface SpeechDetectorModel {
  readonly kind: "detector";
}

/** Anything that the engine can open. */
export type SpeechModel = RecognitionModel | SpeakerModel | SpeechDetectorModel;

/** The task of the engine's process. */
export interface SpeechTask {
  readonly model: SpeechModel;
  readonly threads: number;
}

/** The payload of a request. */
export interface SpeechRequest {
  /** A 16 kHz mono WAV file in the process's folder. */
  readonly path: string;
}

/** More than the longest audio has; the engine reads files of users and is not trusted. */
const maxItems = 100_000;
export const maxMessageBytes = 32 * 1024 * 1024;

/** How far a request is. */
export const Fraction = z.number().min(0).max(1);

const Text = z.string().max(10_000);
const Ms = z.int().min(0).max(maxMilliseconds);
const Word = z.strictObject({ startMs: Ms, endMs: Ms, text: Text });

/** What a recognition model returns. */
export const Transcript: z.ZodType<ChunkTranscript> = z.strictObject({
  language: z.string().max(100).nullable(),
  durationMs: Ms,
  segments: z.array(z.strictObject({ startMs: Ms, endMs: Ms, text: Text, speaker: z.null() })).max(maxItems),
  words: z.array(Word).max(maxItems),
  unclear: z.int().min(0).max(maxItems),
});

/** What the model of speakers returns. */
export const Voices: z.ZodType<PartVoices> = z.strictObject({
  voices: z
    .array(z.strictObject({ ms: z.number().min(0), embedding: z.array(z.number()).max(10_000) }))
    .max(100),
  turns: z.array(z.strictObject({ startMs: Ms, endMs: Ms, voice: z.int().min(0).max(99) })).max(maxItems),
});

/** What the detector returns: whether there is speech in a file. */
export const Presence = z.strictObject({ hasSpeech: z.boolean() });

/** The result for one file. */
export type SpeechResult = ChunkTranscript | PartVoices | z.output<typeof Presence>;
