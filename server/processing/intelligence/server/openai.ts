import type { LanguageModelServerSettings } from "../../../platform/config/config.ts";
import { connectionError, errorCode } from "../../../platform/model-server/client.ts";
import {
  type ModelServer,
  ModelServerError,
  type Refusal,
  refusalError,
  serverMessage,
} from "../../../platform/model-server/refusal.ts";
import type { LanguageModel, ModelAnswer, ModelRequest } from "../language-model.ts";
import { type Capabilities, everything, lower } from "./capabilities.ts";
import { findJson, schemaPrompt } from "./response.ts";
import { languageModelServer } from "./server.ts";
import { openTransport, type TransportLimits } from "./transport.ts";

/**
 * A language model behind OpenAI's `POST /v1/chat/completions`, called through the AI SDK. Request features that the server
 * refuses (JSON schema, JSON mode, streaming, usage, temperature) are left out from then on.
 */
export function openAiModel(
  settings: LanguageModelServerSettings,
  limits: Partial<TransportLimits> = {},
): LanguageModel {
  const url = baseUrl(settings.url);
  const server = languageModelServer(new URL(url).host, settings.apiKey);
  const transport = openTransport(server, { silenceMs: settings.silenceMs, ...limits });
  let known = everything;

  return {
    name: settings.model,
    async ask(request) {
      let form = known;
      for (;;) {
        const answer = await askOnce(url, server, settings, transport.fetch, form, request);
        if (!("status" in answer)) {
          known = form;
          return answer;
        }
        const less = lower(
          form,
          answer.status,
          serverMessage(answer.body, null) || answer.body.slice(0, 2000),
        );
        if (less === null) throw refusalError(server, answer);
        form = less;
      }
    },
    close: () => transport.close(),
  };
}

/** Several times what the longest response has; a model that writes more never ends. */
const maxCharacters = 200_000;

/** Sends a request in one form. @returns the response, or the server's error. */
async function askOnce(
  baseURL: string,
  server: ModelServer,
  settings: LanguageModelServerSettings,
  fetch: typeof globalThis.fetch,
  form: Capabilities,
  request: ModelRequest,
): Promise<ModelAnswer | Refusal> {
  request.signal?.throwIfAborted();
  // Loaded on first use, because most processes never call a model.
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
  const result = streamText({
    model: provider.chatModel(settings.model),
    instructions:
      form.format === "json_schema" ? request.system : `${request.system}\n\n${schemaPrompt(request)}`,
    messages: [...request.messages],
    maxOutputTokens: request.maxOutputTokens,
    // The same transcript should give the same result.
    ...(form.temperature ? { temperature: 0 } : {}),
    // The run retries itself: its retries are counted, shown to users and survive a restart.
    maxRetries: 0,
    onError: () => {},
    ...(request.signal === undefined ? {} : { abortSignal: request.signal }),
    ...(form.format === "text" ? {} : { output: jsonOutput(form, request) }),
  });
  let text = "";
  let fault: unknown;
  try {
    for await (const part of result.stream) {
      if (part.type === "text-delta") {
        text += part.text;
        if (text.length > maxCharacters) throw endless(server);
        request.onText?.(part.text);
      } else if (part.type === "error") fault ??= part.error;
      else if (part.type === "abort") throw request.signal?.reason ?? new Error("aborted");
      else if (part.type === "finish") {
        const { inputTokens = null, outputTokens = null } = part.totalUsage;
        if (part.finishReason === "content-filter") throw declined(server);
        // Some servers send no finish reason, which the SDK treats as an error; the response may be complete.
        if (fault !== undefined && !(isUnexplainedEnd(fault) && findJson(text) !== undefined)) throw fault;
        return { text, isTruncated: part.finishReason === "length", inputTokens, outputTokens };
      }
    }
  } catch (error) {
    request.signal?.throwIfAborted();
    return toRefusal(server, error);
  }
  return toRefusal(server, fault);
}

/** Only requests the form; response.ts validates what was returned. */
function jsonOutput(form: Capabilities, { schema }: ModelRequest) {
  return {
    name: "object",
    responseFormat: Promise.resolve({
      type: "json" as const,
      // Without this the SDK prints a warning about a schema that it can't send.
      ...(form.format === "json_schema"
        ? { schema: schema.json as Record<string, never>, name: schema.name }
        : {}),
    }),
    parseCompleteOutput: async ({ text }: { text: string }) => text,
    // The SDK passes text on when this changes.
    parsePartialOutput: async ({ text }: { text: string }) => ({ partial: text.length }),
    createElementStreamTransform: () => undefined,
  };
}

/** The SDK's error for a stream without `finish_reason`. */
function isUnexplainedEnd(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_InvalidResponseDataError";
}

/** @returns the server's error if another form of the request may work. @throws ModelServerError for every other failure. */
function toRefusal(server: ModelServer, error: unknown): Refusal {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    if (at instanceof ModelServerError) throw at;
    const { statusCode, responseHeaders, responseBody } = at as {
      statusCode?: unknown;
      responseHeaders?: Record<string, string>;
      responseBody?: string;
    };
    if (typeof statusCode === "number" && (statusCode < 200 || statusCode > 299))
      return { status: statusCode, headers: responseHeaders ?? {}, body: responseBody ?? "" };
  }
  // The SDK's errors contain the whole request, so only their code is used.
  if (errorCode(error) !== null) throw connectionError(server, error);
  throw failedInStream(server, (error as { data?: unknown } | undefined)?.data ?? null);
}

/** An error in the middle of a stream, in whatever form the server sends it. */
function failedInStream(server: ModelServer, error: unknown): ModelServerError {
  const words = serverMessage(JSON.stringify(error) ?? "", server.apiKey);
  return new ModelServerError(
    "transient",
    `The language model at ${server.host} aborted its response${words === "" ? "" : `: ${words}`}.`,
    { mayCost: true },
  );
}

function declined({ host }: ModelServer): ModelServerError {
  return new ModelServerError(
    "permanent",
    `The language model at ${host} refuses to summarize this meeting.`,
    {
      mayCost: true,
    },
  );
}

function endless({ host }: ModelServer): ModelServerError {
  return new ModelServerError(
    "unusable",
    `The language model at ${host} does not end its response: it has more than ${maxCharacters} characters.`,
    { mayCost: true },
  );
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

/**
 * The base URL of requests. The setting may be a host, a base URL such as `https://api.openai.com/v1`, or the full URL.
 * @returns the URL that `/chat/completions` is appended to.
 */
export function baseUrl(setting: string): string {
  const url = new URL(setting);
  // Bounded: a setting.
  const withoutSlash = url.pathname.replace(/\/+$/, "");
  const path = withoutSlash.replace(/\/chat\/completions$/, "");
  const isWhole = path.length < withoutSlash.length;
  url.pathname = /\/v\d+[a-z]*(\/|$)/.test(path) || isWhole ? path : `${path}/v1`;
  // Bounded: a setting.
  return url.toString().replace(/\/+$/, "");
}
