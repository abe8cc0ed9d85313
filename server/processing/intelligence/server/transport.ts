import { parseForeignJson } from "../../../platform/json-limits.ts";
import { createModelClient } from "../../../platform/model-server/client.ts";
import { type ModelServer, ModelServerError } from "../../../platform/model-server/refusal.ts";

export interface TransportLimits {
  /** How long the server may send nothing, before or within its response. */
  readonly silenceMs: number;
  /** For one request: a server that sends a word now and then could continue indefinitely. */
  readonly totalMs?: number;
  readonly maxResponseBytes?: number;
}

/** Far longer than any response of a few thousand tokens takes, even on a slow machine. */
const defaultTotalMs = 3_600_000;

/** Streams spend some 300 bytes per token. */
const defaultMaxResponseBytes = 16 * 1024 * 1024;

/** `fetch` for the AI SDK, which passes its failures on as they are or wraps them in errors of its own. */
export interface Transport {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * `fetch` for the AI SDK on top of the model server client. A response that arrives whole is turned into a stream with
 * one part, whether or not a stream was requested, so that there is only one way to read responses.
 */
export function openTransport(server: ModelServer, limits: TransportLimits): Transport {
  const { silenceMs, totalMs = defaultTotalMs, maxResponseBytes = defaultMaxResponseBytes } = limits;
  const client = createModelClient(server, { silenceMs, maxResponseBytes });

  async function send(input: string, init: RequestInit): Promise<Response> {
    const { status, headers, body } = await client.post(input, {
      headers: Object.fromEntries(new Headers(init.headers)),
      body: init.body as string,
      totalMs,
      signal: init.signal,
    });
    const stream = ReadableStream.from(body);
    const contentType = String(headers["content-type"] ?? "");
    const isStream = /text\/event-stream/i.test(contentType);
    const isSuccess = status >= 200 && status < 300;
    // A proxy may respond with an HTML page, which the SDK would read as an empty stream.
    if (isSuccess && !isStream) return asStream(server, await new Response(stream).text());
    const retryAfter = headers["retry-after"];
    return new Response(stream, {
      status,
      headers: {
        "content-type": contentType,
        ...(typeof retryAfter === "string" ? { "retry-after": retryAfter } : {}),
      },
    });
  }

  return {
    fetch: ((input, init) => send(String(input), init ?? {})) as typeof globalThis.fetch,
    close: () => client.close(),
  };
}

/** A whole response as the events of a stream. @throws ModelServerError when it is not a chat completion. */
function asStream({ host }: ModelServer, text: string): Response {
  const unusable = (problem: string) =>
    new ModelServerError("unusable", `The language model at ${host} sent a response ${problem}.`, {
      mayCost: true,
    });
  let response: unknown;
  try {
    response = parseForeignJson(text);
  } catch {
    throw unusable(text.trimStart().startsWith("<") ? "that is a web page, not JSON" : "that is not JSON");
  }
  const { choices, usage, error } = (response ?? {}) as {
    choices?: { message?: unknown; finish_reason?: unknown }[];
    usage?: unknown;
    error?: unknown;
  };
  const events: unknown[] = [];
  if (error != null) events.push({ error: typeof error === "string" ? { message: error } : error });
  else if (!Array.isArray(choices) || choices[0]?.message == null) throw unusable("without a message");
  else {
    const { message, finish_reason } = choices[0];
    events.push({ choices: [{ index: 0, delta: message, finish_reason }], usage: usage ?? null });
  }
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(`${lines}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}
