import type { ModelServer } from "../../../platform/model-server/refusal.ts";

/** OpenAI also responds 429 when the account has no credit, which waiting does not fix. */
const noCredit = /insufficient_quota|billing|exceeded your current quota/i;

/** Refused by a content filter; Azure among others sends this with status 400. */
const filtered = /content.?filter|content management policy/i;

const promptTooLong =
  /context.{0,20}length|context window|maximum context|prompt is too long|too many tokens/i;

/** The language model's server, with the refusals that only language models give. */
export function languageModelServer(host: string, apiKey: string | null): ModelServer {
  return {
    name: "language model",
    host,
    apiKey,
    settingsPrefix: "PARLEY_LLM",
    classify({ status, body }) {
      if (status === 429 && noCredit.test(body)) return "settings";
      return filtered.test(body) ? "permanent" : null;
    },
    explain({ status, body }, reason) {
      if (status === 402 || (status === 429 && noCredit.test(body)))
        return `requires payment (${status})${reason}. Check the account of PARLEY_LLM_API_KEY.`;
      if (promptTooLong.test(body))
        return `does not accept this much text in one request (${status})${reason}. Set PARLEY_LLM_CONTEXT_TOKENS to the model's context size.`;
      return status === 429 ? `receives too many requests (429)${reason}.` : null;
    },
  };
}
