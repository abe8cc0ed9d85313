/** A request to a language model. */
export interface ModelRequest {
  readonly system: string;
  /** Messages in order; the first and the last are the user's. */
  readonly messages: readonly ModelMessage[];
  /** The required form of the response. */
  readonly schema: AnswerSchema;
  readonly maxOutputTokens: number;
  /** Called with each piece of the text as it is written. */
  readonly onText?: ((delta: string) => void) | undefined;
  /** Called as the model works, where it is known: 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /** Called with what the request waits for, for users to read. */
  readonly onWait?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly content: string;
}

interface AnswerSchema {
  /** Letters, digits and `_`. */
  readonly name: string;
  /** JSON Schema, draft 7; every property required, no others allowed. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** A model's response, not validated yet. */
export interface ModelAnswer {
  readonly text: string;
  /** Whether it was cut off at the output limit. */
  readonly isTruncated: boolean;
  /** Tokens as reported by the server; null: not reported. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

/** A language model without tools or memory. */
export interface LanguageModel {
  /** Its name, for users to read. */
  readonly name: string;
  /**
   * @throws ModelServerError when there is no usable response; the signal's reason when aborted.
   */
  ask(request: ModelRequest): Promise<ModelAnswer>;
  close(): Promise<void>;
}
