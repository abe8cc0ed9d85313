/**
 * What kind of failure it is.
 * - `transient`: the same request may succeed later.
 * - `unusable`: the response made no sense; another one may.
 * - `settings`: a setting of Parley or of the model server must be changed.
 * - `permanent`: this request never succeeds.
 */
export type ModelFailure = "transient" | "unusable" | "settings" | "permanent";

/** A model server that could not do its work. The message is shown to users and contains no secret. */
export class ModelServerError extends Error {
  readonly failure: ModelFailure;
  /** How long the server asked to wait; null if it did not say. */
  readonly retryAfterMs: number | null;
  /** Whether the server may have processed, and so charge for, the request. */
  readonly mayCost: boolean;

  constructor(
    failure: ModelFailure,
    message: string,
    options: { retryAfterMs?: number | null; mayCost?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.mayCost = options.mayCost ?? false;
  }

  get isRetryable(): boolean {
    return this.failure === "transient" || this.failure === "unusable";
  }
}

/** A response with a status other than 2xx. */
export interface Refusal {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server behind OpenAI's protocol, as messages about it need it. */
export interface ModelServer {
  /** Such as "language model". */
  readonly name: string;
  readonly host: string;
  readonly apiKey: string | null;
  /** `PARLEY_LLM` for PARLEY_LLM_URL, PARLEY_LLM_MODEL and PARLEY_LLM_API_KEY. */
  readonly settingsPrefix: string;
  /** The failure behind a refusal that only this kind of server gives; null for any other. */
  classify?(refusal: Refusal): ModelFailure | null;
  /** What such a refusal means, to follow the server's name in a sentence; null for any other. */
  explain?(refusal: Refusal, reason: string): string | null;
}

/** Statuses beside 5xx after which the same request may succeed later. */
const transientStatuses = new Set([408, 409, 425, 429]);

/** Converts a refusal to an error. The API key never gets into the message, even where the server repeats it. */
export function refusalError(server: ModelServer, refusal: Refusal): ModelServerError {
  const { status, headers } = refusal;
  const isTransient = status >= 500 || transientStatuses.has(status);
  const failure = server.classify?.(refusal) ?? (isTransient ? "transient" : "settings");
  return new ModelServerError(failure, `The ${server.name} at ${server.host} ${describe(server, refusal)}`, {
    retryAfterMs: failure === "transient" ? readRetryAfter(headers["retry-after"]) : null,
  });
}

function describe(server: ModelServer, refusal: Refusal): string {
  const { settingsPrefix: prefix, apiKey } = server;
  const { status, body } = refusal;
  // Without the server's own words, which often repeat a part of a wrong key.
  if (status === 401 || status === 403)
    return `does not accept the key (${status}). Check ${prefix}_API_KEY.`;
  if (status >= 300 && status < 400)
    return `responded with a redirect (${status}), which is not followed. Set ${prefix}_URL to the final URL.`;
  const words = serverMessage(body, apiKey);
  const reason = words === "" ? "" : `: ${words}`;
  if (status === 405) return `takes no such requests at this URL (405)${reason}. Check ${prefix}_URL.`;
  if (status === 404)
    return `has no such URL or model (404)${reason}. Check ${prefix}_URL and ${prefix}_MODEL.`;
  return server.explain?.(refusal, reason) ?? `responded with status ${status}${reason}.`;
}

/** Characters of the server's own message that go into ours. */
const maxMessageLength = 300;

/**
 * The reason in a refusal's body, in the forms that servers use: OpenAI's, FastAPI's, plain text. On one line, cut, and
 * without the key.
 */
export function serverMessage(body: string, apiKey: string | null): string {
  const message = findMessage(body)
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .trim();
  const safe = apiKey === null ? message : message.replaceAll(apiKey, "[key]");
  return (
    safe
      .slice(0, maxMessageLength)
      .toWellFormed()
      // Bounded: cut above.
      .replace(/[.\s]+$/, "")
  );
}

function findMessage(body: string): string {
  try {
    return messageIn(JSON.parse(body));
  } catch {
    // Not JSON: a short line may explain the refusal, a proxy's HTML page does not.
    return body.length <= maxMessageLength && !body.includes("<") ? body : "";
  }
}

function messageIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (typeof value !== "object" || value === null) return "";
  const record = value as Record<string, unknown>;
  return messageIn(record.error ?? record.message ?? record.detail ?? record.msg);
}

/** Milliseconds; null without a usable header. Source: RFC 9110, section 10.2.3: seconds or a date. */
function readRetryAfter(header: string | string[] | undefined): number | null {
  if (typeof header !== "string") return null;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.round(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
