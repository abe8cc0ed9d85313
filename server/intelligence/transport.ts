import { Agent, fetch as undiciFetch } from "undici";
import { ModelError } from "./model.ts";

export interface TransportLimits {
  /** How long the server may say nothing, before its answer or within. */
  readonly silenceMs: number;
  /** For one request altogether: a server that sends a word now and then would go on for ever. */
  readonly totalMs?: number;
  /** A longer answer is refused while it comes. */
  readonly maxAnswerBytes?: number;
}

/** Far longer than any answer of a few thousand tokens, on a slow machine as well. */
const defaultTotalMs = 3_600_000;

/** Streams spend some 300 bytes on a token. */
const defaultMaxAnswerBytes = 16 * 1024 * 1024;

/** Failures that the SDK passes on as they are, or hides in errors of its own. */
export interface Transport {
  readonly fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/**
 * `fetch` for the SDK as a model's server needs it: without the five minutes after which the usual one gives up,
 * bounded in time and size, and without following redirects, which would take the key and the transcript elsewhere.
 * Where an answer to a request for a stream comes whole, it is turned into a stream of one piece, and where it was not
 * asked for as a stream as well: so there is one way to read answers.
 * @param host for the words of failures.
 */
export function openTransport(host: string, limits: TransportLimits): Transport {
  const { silenceMs, totalMs = defaultTotalMs, maxAnswerBytes = defaultMaxAnswerBytes } = limits;
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, connectTimeout: Math.min(silenceMs, 30_000) });

  async function send(input: string, init: RequestInit): Promise<Response> {
    const stop = new AbortController();
    const silent = () => stop.abort(tooSlow(host, silenceMs));
    const total = setTimeout(() => stop.abort(tooSlow(host, totalMs)), totalMs);
    let silence = setTimeout(silent, silenceMs);
    const end = (): void => {
      clearTimeout(total);
      clearTimeout(silence);
    };
    const heard = (): void => {
      clearTimeout(silence);
      silence = setTimeout(silent, silenceMs);
    };
    const signal = init.signal == null ? stop.signal : AbortSignal.any([stop.signal, init.signal]);
    try {
      const answer = await undiciFetch(input, {
        method: init.method ?? "POST",
        headers: init.headers as Record<string, string>,
        body: init.body as string,
        redirect: "manual",
        signal,
        dispatcher: agent,
      });
      heard();
      const body = watch(answer.body as AsyncIterable<Uint8Array> | null, {
        host,
        maxAnswerBytes,
        heard,
        end,
      });
      const headers = new Headers([...answer.headers]);
      const isStream = /text\/event-stream/i.test(headers.get("content-type") ?? "");
      // A proxy may answer with a page; the SDK would read it as an empty stream.
      if (!answer.ok || isStream) return new Response(body, { status: answer.status, headers });
      return await asStream(host, await new Response(body).text());
    } catch (error) {
      end();
      throw signal.aborted ? signal.reason : error;
    }
  }

  return {
    fetch: ((input, init) => send(String(input), init ?? {})) as typeof globalThis.fetch,
    close: () => agent.destroy(),
  };
}

interface Watch {
  readonly host: string;
  readonly maxAnswerBytes: number;
  heard(): void;
  end(): void;
}

/** Passes a body on, noting that something came, and ends it when it grows beyond all measure. */
function watch(body: AsyncIterable<Uint8Array> | null, options: Watch): ReadableStream<Uint8Array> {
  async function* pass(): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const part of body ?? []) {
        size += part.length;
        if (size > options.maxAnswerBytes) throw tooLong(options.host, options.maxAnswerBytes);
        options.heard();
        yield part;
      }
    } finally {
      options.end();
    }
  }
  return ReadableStream.from(pass());
}

/** A whole answer as the events of a stream. @throws ModelError when it is none. */
async function asStream(host: string, text: string): Promise<Response> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ModelError("nonsense", `The language model at ${host} sent an answer that is no JSON.`, {
      mayCost: true,
    });
  }
  const { choices, usage, error } = (answer ?? {}) as {
    choices?: { message?: unknown; finish_reason?: unknown }[];
    usage?: unknown;
    error?: unknown;
  };
  const events: unknown[] = [];
  if (error != null) events.push({ error: typeof error === "string" ? { message: error } : error });
  else if (!Array.isArray(choices) || choices[0]?.message == null) {
    throw new ModelError("nonsense", `The language model at ${host} sent an answer without a message.`, {
      mayCost: true,
    });
  } else {
    const { message, finish_reason } = choices[0];
    events.push({ choices: [{ index: 0, delta: message, finish_reason }], usage: usage ?? null });
  }
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(`${lines}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}

function tooSlow(host: string, ms: number): ModelError {
  const sec = Math.max(1, Math.round(ms / 1000));
  return new ModelError("passing", `The language model at ${host} did not answer within ${sec} s.`, {
    mayCost: true,
  });
}

function tooLong(host: string, bytes: number): ModelError {
  return new ModelError(
    "nonsense",
    `The language model at ${host} sent an answer of more than ${Math.floor(bytes / 1024)} KiB.`,
    { mayCost: true },
  );
}
