import { mayPass, readRetryAfter, wordsOfServer } from "../model-server-words.ts";
import { ModelError, type ModelFailure } from "./model.ts";

/** An answer of the server that is no success. */
export interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Makes an error of a refusal. The key never gets into it, even where the server repeats it. */
export function refusal(host: string, refused: Refused, apiKey: string | null): ModelError {
  const { status, headers, body } = refused;
  const words = wordsOfServer(body, apiKey);
  const failure = failureOf(status, body);
  return new ModelError(failure, describe(host, status, words, body), {
    retryAfterMs: failure === "passing" ? readRetryAfter(headers["retry-after"]) : null,
  });
}

/** OpenAI answers 429 also where the account is without credit, which no waiting mends; it is tried again slowly. */
const noCredit = /insufficient_quota|billing|exceeded your current quota/i;

/** Azure's words among others, with status 400. */
const filtered = /content.?filter|content management policy/i;

const tooLongPrompt =
  /context.{0,20}length|context window|maximum context|prompt is too long|too many tokens/i;

function failureOf(status: number, body: string): ModelFailure {
  if (status === 429 && noCredit.test(body)) return "settings";
  if (filtered.test(body)) return "final";
  if (mayPass(status)) return "passing";
  return "settings";
}

function describe(host: string, status: number, words: string, body: string): string {
  const server = `The language model at ${host}`;
  const because = words === "" ? "" : `: ${words}`;
  // What is said to a wrong key often repeats a part of it.
  if (status === 401 || status === 403)
    return `${server} does not accept the key (${status}). Check PARLEY_LLM_API_KEY.`;
  if (status >= 300 && status < 400)
    return `${server} answered with a redirect (${status}), which is not followed. Put the final address into PARLEY_LLM_URL.`;
  if (status === 404)
    return `${server} has no such address or model (404)${because}. Check PARLEY_LLM_URL and PARLEY_LLM_MODEL.`;
  if (status === 402 || (status === 429 && noCredit.test(body)))
    return `${server} wants to be paid (${status})${because}. Check the account of PARLEY_LLM_API_KEY.`;
  if (tooLongPrompt.test(body))
    return `${server} does not take so much text at once (${status})${because}. Set PARLEY_LLM_CONTEXT_TOKENS to what the model takes.`;
  if (status === 429) return `${server} is asked too often (429)${because}.`;
  return `${server} answered with status ${status}${because}.`;
}

/** An error in the middle of a stream, in whatever form the server gives it. */
export function failedInStream(host: string, error: unknown, apiKey: string | null): ModelError {
  const words = wordsOfServer(JSON.stringify(error) ?? "", apiKey);
  return new ModelError(
    "passing",
    `The language model at ${host} broke its answer off${words === "" ? "" : `: ${words}`}.`,
    { mayCost: true },
  );
}
