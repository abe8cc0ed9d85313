import { z } from "zod";

/** The task of the engine's process. */
export interface LanguageTask {
  /** Path of the GGUF file. */
  readonly model: string;
  readonly threads: number;
  readonly contextTokens: number;
  readonly usesGpu: boolean;
}

/** What the process reports for a model that reads too little at a time. */
export const shortContext = (tokens: number): string => `the model's context has ${tokens} tokens`;

/** @returns the tokens of a model's context; undefined when something else was reported. */
export const readShortContext = (message: string): string | undefined =>
  /^the model's context has (\d+) tokens$/.exec(message)?.[1];

/** The payload of a request. */
export interface LanguageRequest {
  readonly system: string;
  /** The first and the last are the user's. */
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: string }[];
  readonly schema: Readonly<Record<string, unknown>>;
  readonly maxOutputTokens: number;
}

/** More than a context holds. */
export const maxMessageBytes = 4 * 1024 * 1024;

/** How far a request is, and the text that was written since the last message. */
export const LanguageProgress = z.strictObject({
  fraction: z.number().min(0).max(1),
  text: z.string().max(maxMessageBytes),
});
export type LanguageProgress = z.output<typeof LanguageProgress>;

export const LanguageResult = z.strictObject({
  text: z.string().max(maxMessageBytes),
  /** Whether the prompt or the text did not fit. */
  isTruncated: z.boolean(),
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
});
export type LanguageResult = z.output<typeof LanguageResult>;

/** Tokens a second. */
export const TrialResult = z.strictObject({ read: z.number().positive(), written: z.number().positive() });
export type TrialResult = z.output<typeof TrialResult>;
