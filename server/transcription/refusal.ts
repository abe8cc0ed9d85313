import { mayPass, readRetryAfter, wordsOfServer } from "../model-server-words.ts";
import type { HttpAnswer } from "./post.ts";
import { TranscriptionError } from "./transcriber.ts";

/** Makes an error of an answer that is no success. The key never gets into it, even where the server repeats it. */
export function refusal(url: URL, answer: HttpAnswer | undefined, apiKey: string | null): TranscriptionError {
  const status = answer?.status ?? 0;
  const isRetryable = mayPass(status);
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
  const words = wordsOfServer(answer?.body ?? "", apiKey);
  const because = words === "" ? "" : `: ${words}`;
  if (status === 404)
    return `${server} has no such address or model (404)${because}. Check PARLEY_TRANSCRIPTION_URL and PARLEY_TRANSCRIPTION_MODEL.`;
  if (status === 413) return `${server} does not take so large a piece of audio (413)${because}.`;
  return `${server} answered with status ${status}${because}.`;
}
