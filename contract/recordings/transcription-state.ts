import { z } from "zod";

/** Status of a transcription by the speech model; `done` and `failed` are final. */
export const TranscriptionStatus = z.enum(["pending", "running", "done", "failed"]);

export const TranscriptionStage = z.enum(["audio", "words", "speakers"]).nullable().meta({
  description:
    "What a running transcription does: reads the audio, recognizes words, or tells speakers apart. null: it has not begun.",
});

export const TranscriptionPercent = z.int().min(0).max(100).meta({ description: "Percentage that is done." });
