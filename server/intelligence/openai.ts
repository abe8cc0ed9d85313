import type { LanguageModelSettings } from "../config.ts";
import { wordsOfServer } from "../model-server-words.ts";
import { findJson } from "./answer.ts";
import { type Capabilities, everything, lower } from "./capabilities.ts";
import { type LanguageModel, type ModelAnswer, ModelError, type ModelRequest } from "./model.ts";
import { failedInStream, type Refused, refusal } from "./refusal.ts";
import { openTransport, type TransportLimits } from "./transport.ts";

/**
 * A language model behind OpenAI's `POST /v1/chat/completions`, asked through the AI SDK. What the server refuses of
 * the form of a request (JSON schema, JSON at all, streaming, counting, temperature) it is asked without from then on.
 */
export function openAiModel(
  settings: LanguageModelSettings,
  limits: Partial<TransportLimits> = {},
): LanguageModel {
  const url = baseUrl(settings.url);
  const host = new URL(url).host;
  const transport = openTransport(host, { silenceMs: settings.silenceMs, ...limits });
  let known = everything;

  return {
    name: settings.model,
    async ask(request) {
      let form = known;
      for (;;) {
        const answer = await askOnce(url, host, settings, transport.fetch, form, request);
        if (!("status" in answer)) {
          known = form;
          return answer;
        }
        const less = lower(
          form,
          answer.status,
          wordsOfServer(answer.body, null) || answer.body.slice(0, 2000),
        );
        if (less === null) throw refusal(host, answer, settings.apiKey);
        form = less;
      }
    },
    close: () => transport.close(),
  };
}

/** One request in one form. @returns the answer, or the refusal. */
async function askOnce(
  baseURL: string,
  host: string,
  settings: LanguageModelSettings,
  fetch: typeof globalThis.fetch,
  form: Capabilities,
  request: ModelRequest,
): Promise<ModelAnswer | Refused> {
  request.signal?.throwIfAborted();
  // Loaded when first needed: most processes never ask a model.
  const [{ streamText }, { createOpenAICompatible }] = await Promise.all([
    import("ai"),
    import("@ai-sdk/openai-compatible"),
  ]);
  const provider = createOpenAICompatible({
    name: "llm",
    baseURL,
    fetch,
    includeUsage: form.stream === "with_usage",
    supportsStructuredOutputs: form.format === "json_schema",
    transformRequestBody: (body) => inForm(body, form),
    ...(settings.apiKey === null ? {} : { apiKey: settings.apiKey }),
  });
  const { schema } = request;
  const result = streamText({
    model: provider.chatModel(settings.model),
    instructions: form.format === "json_schema" ? request.system : withSchema(request),
    messages: [...request.messages],
    maxOutputTokens: request.maxOutputTokens,
    // The same transcript should give the same answer.
    ...(form.temperature ? { temperature: 0 } : {}),
    // Retries are ours (retry.ts): they are counted, told to people, and survive a restart.
    maxRetries: 0,
    onError: () => {},
    ...(request.signal === undefined ? {} : { abortSignal: request.signal }),
    ...(form.format === "text"
      ? {}
      : {
          // Only asks for the form; what came is judged by answer.ts.
          output: {
            name: "object",
            responseFormat: Promise.resolve({
              type: "json" as const,
              // Told of a schema that it can't send, the SDK would warn on standard error.
              ...(form.format === "json_schema"
                ? { schema: schema.json as Record<string, never>, name: schema.name }
                : {}),
            }),
            parseCompleteOutput: async ({ text }: { text: string }) => text,
            parsePartialOutput: async () => undefined,
            createElementStreamTransform: () => undefined,
          },
        }),
  });
  let text = "";
  let fault: unknown;
  try {
    for await (const part of result.stream) {
      if (part.type === "text-delta") text += part.text;
      else if (part.type === "error") fault ??= part.error;
      else if (part.type === "abort") throw request.signal?.reason ?? new Error("aborted");
      else if (part.type === "finish") {
        const { inputTokens = null, outputTokens = null } = part.totalUsage;
        if (part.finishReason === "content-filter") throw declined(host);
        // Some servers never say why a stream ends, which the SDK takes for an error; what came may be whole.
        if (fault !== undefined && !(isUnexplainedEnd(fault) && findJson(text) !== undefined)) throw fault;
        return { text, isTruncated: part.finishReason === "length", inputTokens, outputTokens };
      }
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    return toRefusal(host, error, settings.apiKey);
  }
  return toRefusal(host, fault, settings.apiKey);
}

/** What the SDK makes of a stream without `finish_reason`. */
function isUnexplainedEnd(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_InvalidResponseDataError";
}

/** @returns what the server refused. @throws ModelError for everything else that can go wrong. */
function toRefusal(host: string, error: unknown, apiKey: string | null): Refused {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    if (at instanceof ModelError) throw at;
    const { statusCode, responseHeaders, responseBody } = at as {
      statusCode?: unknown;
      responseHeaders?: Record<string, string>;
      responseBody?: string;
    };
    if (typeof statusCode === "number" && (statusCode < 200 || statusCode > 299))
      return { status: statusCode, headers: responseHeaders ?? {}, body: responseBody ?? "" };
  }
  // The SDK's errors hold the whole request; only their code may leave.
  const code = codeOf(error);
  if (code !== null)
    throw new ModelError("passing", `The connection to the language model at ${host} failed (${code}).`);
  throw failedInStream(host, (error as { data?: unknown } | undefined)?.data ?? null, apiKey);
}

/** The code of a failed connection, wherever in the chain of causes it is. */
function codeOf(error: unknown): string | null {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && /^[A-Z_0-9]{3,40}$/.test(code)) return code;
  }
  return null;
}

function declined(host: string): ModelError {
  return new ModelError("final", `The language model at ${host} declines to speak about this meeting.`, {
    mayCost: true,
  });
}

function inForm(body: Record<string, unknown>, form: Capabilities): Record<string, unknown> {
  const { max_tokens, ...rest } = body;
  const length = form.length === "none" || max_tokens === undefined ? {} : { [form.length]: max_tokens };
  return {
    ...rest,
    ...length,
    ...(form.stream === "off" ? { stream: false, stream_options: undefined } : {}),
  };
}

/** For servers that don't hold the model to the schema. */
function withSchema({ system, schema }: ModelRequest): string {
  return `${system}\n\nAnswer with one JSON object and nothing else. It must match this JSON schema:\n${JSON.stringify(schema.json)}`;
}

/**
 * Where to send requests: the setting may be a host, a base address such as `https://api.openai.com/v1`, or the whole
 * address.
 * @returns the address that `/chat/completions` is added to.
 */
export function baseUrl(setting: string): string {
  const url = new URL(setting);
  const path = url.pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  url.pathname =
    /\/v\d+[a-z]*(\/|$)/.test(path) || path !== url.pathname.replace(/\/+$/, "") ? path : `${path}/v1`;
  return url.toString().replace(/\/+$/, "");
}
