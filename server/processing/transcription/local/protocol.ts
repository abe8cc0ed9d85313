import { z } from "zod";
import { maxMilliseconds } from "../../../../shared/transcripts/transcript-limits.ts";
import type { Watch } from "../../../platform/confinement/watchdog.ts";
import type { ChunkTranscript } from "../model/transcriber.ts";
import type { PartVoices } from "../speakers/assign.ts";

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

/** Whether there is speech in a file. */
interface SpeechPresence {
  readonly hasSpeech: boolean;
}

/** Anything that the engine can open. */
export type EngineModel = RecognitionModel | SpeakerModel | SpeechDetectorModel;

/** The result for one file. */
export type EngineResult<Model = EngineModel> = Model extends SpeakerModel
  ? PartVoices
  : Model extends SpeechDetectorModel
    ? SpeechPresence
    : ChunkTranscript;

/** The only argument of the engine's process, as JSON. */
export interface EngineTask {
  readonly model: EngineModel;
  readonly threads: number;
  readonly watch: Watch;
}

/** A request, one JSON line on standard input; they are worked on in order. */
export interface EngineRequest {
  readonly id: number;
  /** A 16 kHz mono WAV file in the process's folder. */
  readonly path: string;
}

/** More than the longest audio has; the engine reads files of users and is not trusted. */
const maxItems = 100_000;
export const maxMessageBytes = 32 * 1024 * 1024;

const Text = z.string().max(10_000);
const Ms = z.int().min(0).max(maxMilliseconds);
const Word = z.strictObject({ startMs: Ms, endMs: Ms, text: Text });

const Transcript = z.strictObject({
  language: z.string().max(100).nullable(),
  durationMs: Ms,
  segments: z.array(z.strictObject({ startMs: Ms, endMs: Ms, text: Text, speaker: z.null() })).max(maxItems),
  words: z.array(Word).max(maxItems),
  unclear: z.int().min(0).max(maxItems),
});

const Voices = z.strictObject({
  voices: z
    .array(z.strictObject({ ms: z.number().min(0), embedding: z.array(z.number()).max(10_000) }))
    .max(100),
  turns: z.array(z.strictObject({ startMs: Ms, endMs: Ms, voice: z.int().min(0).max(99) })).max(maxItems),
});

const Presence = z.strictObject({ hasSpeech: z.boolean() });

const id = z.int();

/** A message of the engine, one JSON line each on file descriptor 3. */
export type EngineMessage =
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly id: number; readonly fraction: number }
  | { readonly type: "result"; readonly id: number; readonly result: EngineResult }
  /** The engine can't work on this machine or with this model. */
  | { readonly type: "unusable"; readonly message: string };

/** What a message must be. */
export const engineMessage: z.ZodType<EngineMessage> = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("ready") }),
  z.strictObject({ type: z.literal("progress"), id, fraction: z.number().min(0).max(1) }),
  z.strictObject({ type: z.literal("result"), id, result: z.union([Transcript, Voices, Presence]) }),
  z.strictObject({ type: z.literal("unusable"), message: z.string() }),
]);
