import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { findNetworkReason } from "../outbound/errors.ts";
import { describeProxyRefusal } from "../outbound/proxy.ts";
import { type ModelServer, ModelServerError, type Refusal } from "./refusal.ts";

export interface ClientLimits {
  /** How long the server may send nothing, before or within its response; none: only the total counts. */
  readonly silenceMs?: number;
  /** A longer response is refused while it arrives. */
  readonly maxResponseBytes: number;
}

interface ModelRequestInit {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable;
  /** For the whole exchange: connecting, sending, the server's work and its response. */
  readonly totalMs: number;
  readonly signal?: AbortSignal | null | undefined;
}

/** A response whose body is still arriving. Reading the body throws the same errors as `post`. */
interface ModelResponse {
  readonly status: number;
  readonly headers: Refusal["headers"];
  readonly body: AsyncIterable<Uint8Array>;
}

/** A failure to read what is sent, rather than of the connection. */
class SourceError extends Error {}

export interface ModelClient {
  /**
   * Sends a POST request. Redirects are not followed, since they would take the key and the meeting elsewhere.
   * @throws ModelServerError when there is no complete response; the signal's reason when aborted; the stream's error
   * when what is sent can't be read.
   */
  post(url: string | URL, request: ModelRequestInit): Promise<ModelResponse>;
  /** Breaks off what is in flight. */
  close(): Promise<void>;
}

/**
 * The HTTP client for model servers: without the usual five minutes of silence after which HTTP clients stop, which a
 * model at work often exceeds, but bounded in time and size.
 */
export function createModelClient(server: ModelServer, limits: ClientLimits): ModelClient {
  const open = async (): Promise<Dispatcher> => {
    const { createDispatcher } = await import("../outbound/dispatcher.ts");
    return createDispatcher({
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: Math.min(limits.silenceMs ?? 30_000, 30_000),
      // Middleboxes drop connections that are silent for minutes.
      connect: { keepAlive: true, keepAliveInitialDelay: 30_000 },
    });
  };
  // Opened by the first request, which loads undici.
  let agent: Promise<Dispatcher> | undefined;
  return {
    post: async (url, init) => {
      agent ??= open();
      return post(await agent, server, limits, new URL(url), init);
    },
    close: async () => {
      await (await agent)?.destroy();
    },
  };
}

async function post(
  agent: Dispatcher,
  server: ModelServer,
  limits: ClientLimits,
  { origin, pathname, search }: URL,
  { headers, body, signal, totalMs }: ModelRequestInit,
): Promise<ModelResponse> {
  signal?.throwIfAborted();
  const timers = startTimers(server, limits.silenceMs, totalMs);
  const stop = signal == null ? timers.signal : AbortSignal.any([timers.signal, signal]);
  const end = (): void => {
    timers.stop();
    if (typeof body !== "string") body.destroy();
  };
  const failure = (error: unknown): unknown => {
    if (stop.aborted) return stop.reason;
    if (error instanceof SourceError) return error.cause;
    return error instanceof ModelServerError ? error : connectionError(server, error);
  };
  try {
    const exchange = agent.request({
      origin,
      path: pathname + search,
      method: "POST",
      headers,
      body,
      signal: stop,
      // A connection kept open since the last request minutes ago may be about to close.
      reset: true,
    });
    const response = await (typeof body === "string" ? exchange : Promise.race([exchange, failureOf(body)]));
    timers.heard();
    return {
      status: response.statusCode,
      headers: response.headers,
      body: readBody(server, response.body, limits, { heard: timers.heard, end, failure }),
    };
  } catch (error) {
    end();
    throw failure(error);
  }
}

/** Rejects when the stream that is being sent fails. */
function failureOf(body: Readable): Promise<never> {
  return new Promise((_resolve, reject) => {
    body.once("error", (error) =>
      reject(new SourceError("the request body can't be read", { cause: error })),
    );
  });
}

interface Exchange {
  heard(): void;
  end(): void;
  failure(error: unknown): unknown;
}

async function* readBody(
  server: ModelServer,
  body: AsyncIterable<Uint8Array>,
  { maxResponseBytes }: ClientLimits,
  exchange: Exchange,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > maxResponseBytes) throw tooLarge(server, maxResponseBytes);
      exchange.heard();
      yield chunk;
    }
  } catch (error) {
    throw exchange.failure(error);
  } finally {
    exchange.end();
  }
}

function startTimers(server: ModelServer, silenceMs: number | undefined, totalMs: number) {
  const stop = new AbortController();
  const timer = (ms: number) => setTimeout(() => stop.abort(tooSlow(server, ms)), ms);
  const total = timer(totalMs);
  let silence = silenceMs === undefined ? undefined : timer(silenceMs);
  return {
    signal: stop.signal,
    heard(): void {
      clearTimeout(silence);
      if (silenceMs !== undefined) silence = timer(silenceMs);
    },
    stop(): void {
      clearTimeout(total);
      clearTimeout(silence);
    },
  };
}

/** The error of a broken or refused connection, with its code where one is found in the chain of causes. */
export function connectionError(server: ModelServer, error: unknown): ModelServerError {
  const refusal = describeProxyRefusal(error);
  if (refusal !== null)
    return new ModelServerError(
      "transient",
      `The ${server.name} at ${server.host} can't be reached: ${refusal}.`,
    );
  const words = findNetworkReason(error);
  const code = errorCode(error) ?? (error instanceof Error ? error.name : "unknown");
  return new ModelServerError(
    "transient",
    `The connection to the ${server.name} at ${server.host} failed (${code})${words === null ? "" : `: ${words}`}.`,
  );
}

export function errorCode(error: unknown): string | null {
  for (let at = error; typeof at === "object" && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === "string" && /^[A-Z_0-9]{3,40}$/.test(code)) return code;
  }
  return null;
}

function tooSlow({ name, host }: ModelServer, ms: number): ModelServerError {
  const sec = Math.max(1, Math.round(ms / 1000));
  return new ModelServerError("transient", `The ${name} at ${host} did not respond within ${sec} s.`, {
    mayCost: true,
  });
}

function tooLarge({ name, host }: ModelServer, bytes: number): ModelServerError {
  return new ModelServerError(
    "unusable",
    `The ${name} at ${host} sent a response of more than ${Math.floor(bytes / 1024)} KiB.`,
    { mayCost: true },
  );
}
