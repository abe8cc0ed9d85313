import type { HttpAnswer } from "./post.ts";
import { TranscriptionError } from "./transcriber.ts";

/** Beside every 5xx: what may pass by itself. */
const passing = new Set([408, 409, 425, 429]);

/** Words of the server that go into our message are cut to this. */
const maxSaid = 300;

/** Makes an error of an answer that is no success. The key never gets into it, even where the server repeats it. */
export function refusal(url: URL, answer: HttpAnswer | undefined, apiKey: string | null): TranscriptionError {
  const status = answer?.status ?? 0;
  const isRetryable = status >= 500 || passing.has(status);
  return new TranscriptionError(describe(url, status, answer, apiKey), {
    isRetryable,
    retryAfterMs: isRetryable ? readRetryAfter(answer?.headers["retry-after"]) : null,
  });
}

function describe(url: URL, status: number, answer: HttpAnswer | undefined, apiKey: string | null): string {
  const server = `The speech server at ${url.host}`;
  // What is said to a wrong key often repeats a part of it.
  if (status === 401 || status === 403)
    return `${server} does not accept the key (${status}). Check PARLEY_TRANSCRIPTION_API_KEY.`;
  if (status >= 300 && status < 400)
    return `${server} answered with a redirect (${status}), which is not followed. Put the final address into PARLEY_TRANSCRIPTION_URL.`;
  const words = said(answer?.body ?? "", apiKey);
  const because = words === "" ? "" : `: ${words}`;
  if (status === 404)
    return `${server} has no such address or model (404)${because}. Check PARLEY_TRANSCRIPTION_URL and PARLEY_TRANSCRIPTION_MODEL.`;
  if (status === 413) return `${server} does not take so large a piece of audio (413)${because}.`;
  return `${server} answered with status ${status}${because}.`;
}

/** The reason in the forms that servers give: OpenAI's, FastAPI's, plain text. */
function said(body: string, apiKey: string | null): string {
  const words = findWords(body)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  const safe = apiKey === null ? words : words.replaceAll(apiKey, "[key]");
  return safe
    .slice(0, maxSaid)
    .toWellFormed()
    .replace(/[.\s]+$/, "");
}

function findWords(body: string): string {
  try {
    return wordsOf(JSON.parse(body));
  } catch {
    // No JSON: pages of proxies tell nothing, a short line may.
    return body.length <= maxSaid && !body.includes("<") ? body : "";
  }
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return wordsOf(value[0]);
  if (typeof value !== "object" || value === null) return "";
  const record = value as Record<string, unknown>;
  return wordsOf(record.error ?? record.message ?? record.detail ?? record.msg);
}

/** RFC 9110, 10.2.3: seconds or a date. */
function readRetryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  if (/^\d+(\.\d+)?$/.test(header.trim())) return Math.round(Number(header) * 1000);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}
