/** One request to a language model. */
export interface ModelRequest {
  readonly system: string;
  /** Turns in order, the user's first and last. */
  readonly messages: readonly ModelMessage[];
  /** What the answer must look like. */
  readonly schema: AnswerSchema;
  readonly maxOutputTokens: number;
  readonly signal?: AbortSignal | undefined;
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

export interface AnswerSchema {
  /** Letters, digits and `_`. */
  readonly name: string;
  /** JSON Schema, draft 7; every property required, no others allowed. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** What a model said; nobody has looked into it yet. */
export interface ModelAnswer {
  readonly text: string;
  /** Whether it ran into the limit of its length. */
  readonly isTruncated: boolean;
  /** As the server counted; null: it did not say. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** A language model, wherever it runs. It has no tools and no memory. */
export interface LanguageModel {
  /** For people. */
  readonly name: string;
  /**
   * @throws ModelError when the model does not answer; the signal's reason when aborted.
   */
  ask(request: ModelRequest): Promise<ModelAnswer>;
  close(): Promise<void>;
}

/**
 * What kind of failure it is.
 * - `passing`: the same request may succeed later.
 * - `nonsense`: the answer made no sense; another may.
 * - `settings`: somebody has to change a setting, of ours or of the model's server.
 * - `final`: this request never succeeds.
 */
export type ModelFailure = "passing" | "nonsense" | "settings" | "final";

/** A language model that could not do its work. The message is for people and holds no secret. */
export class ModelError extends Error {
  readonly failure: ModelFailure;
  /** How long the server asked to wait; null: it did not say. */
  readonly retryAfterMs: number | null;
  /** Whether the server may have worked, and so charge, for it. */
  readonly mayCost: boolean;

  constructor(
    failure: ModelFailure,
    message: string,
    options: { retryAfterMs?: number | null; mayCost?: boolean } = {},
  ) {
    super(message);
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.mayCost = options.mayCost ?? false;
  }
}
