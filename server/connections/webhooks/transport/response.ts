import type { Dispatcher } from "undici";
import { sentenceOf } from "../../../../contract/sentences.ts";
import { STATUS_CODES } from "../../../platform/http/node-http.ts";
import { describeNetworkError } from "../../../platform/outbound/errors.ts";

/** The response to an attempt, or why there was none. */
export interface HookResponse {
  /** The status was 2xx, whether or not the body arrived. */
  readonly ok: boolean;
  /** Null: there was no response. */
  readonly status: number | null;
  /** The two headers that are used. */
  readonly headers: { readonly "retry-after"?: string; readonly "content-type"?: string };
  /** The beginning of the body as text that PostgreSQL can store; invalid UTF-8 becomes U+FFFD. */
  readonly body: string;
  /** The body was longer. */
  readonly truncated: boolean;
  /** Why it is not ok, for users. Null exactly when it is. */
  readonly error: string | null;
  /** The caller aborted it, by `signal` or `close`, before a response: that says nothing about the receiver. */
  readonly isStopped: boolean;
  readonly durationMs: number;
}

export interface ResponseCollector {
  /** For undici, which calls it during the request and the response. */
  readonly handler: Dispatcher.DispatchHandler;
  readonly fail: (reason: string) => void;
  readonly timeOut: (limitMs: number) => void;
  readonly stop: () => void;
  /** Sets what to do once the response has been passed on. */
  readonly whenOver: (tidy: () => void) => void;
}

/** Collects a response and passes it on once: at its end, when it is long enough, or at the timeout. */
export function collectResponse(maxBytes: number, give: (response: HookResponse) => void): ResponseCollector {
  const startedAt = performance.now();
  const parts: Buffer[] = [];
  let bytes = 0;
  let status: number | null = null;
  let headers: HookResponse["headers"] = {};
  let location: string | null = null;
  let connection: Dispatcher.DispatchController | null = null;
  let isOver = false;
  let tidy = (): void => {};

  /** Passes on what has arrived; `reason` is the error if no status has. */
  function end(reason: string, truncated: boolean, isStopped = false): void {
    if (isOver) return;
    isOver = true;
    tidy();
    const ok = status !== null && status >= 200 && status < 300;
    const refusal = status === null ? reason : describeStatus(status, location);
    give({
      ok,
      status,
      headers,
      body: decode(parts, maxBytes),
      truncated,
      error: ok ? null : refusal,
      isStopped: isStopped && status === null,
      durationMs: Math.round(performance.now() - startedAt),
    });
  }

  /** Ends the response early. The connection can't be used again, because the rest would still arrive. */
  function cut(reason: string, isStopped = false): void {
    if (isOver) return;
    end(reason, status !== null, isStopped);
    connection?.abort(new Error(reason));
  }

  return {
    fail: (reason) => end(reason, false),
    timeOut: (limitMs) =>
      cut(
        sentenceOf(connection === null ? "net_no_connection" : "net_no_response", {
          seconds: limitMs / 1000,
        }),
      ),
    stop: () => cut("sending was stopped", true),
    whenOver: (then) => {
      tidy = then;
    },
    handler: {
      onRequestStart: (controller) => {
        connection = controller;
        // It timed out while it waited for the connection; undici can't cancel a request before this.
        if (isOver) controller.abort(new Error("too late"));
      },
      onResponseStart: (_controller, code, received) => {
        // 1xx come before the response.
        if (code < 200 || isOver) return;
        status = code;
        headers = pick(received);
        location = headerText(received.location);
      },
      onResponseData: (_controller, chunk) => {
        if (isOver) return;
        parts.push(chunk);
        bytes += chunk.length;
        if (bytes > maxBytes) cut("");
      },
      onResponseEnd: () => end("", false),
      onResponseError: (_controller, error) => end(describeNetworkError(error), status !== null),
    },
  };
}

/** How much of a header is kept. */
const MAX_HEADER_LENGTH = 200;

function pick(received: Readonly<Record<string, string | string[] | undefined>>): HookResponse["headers"] {
  const retryAfter = headerText(received["retry-after"]);
  const contentType = headerText(received["content-type"]);
  return {
    ...(retryAfter === null ? {} : { "retry-after": retryAfter }),
    ...(contentType === null ? {} : { "content-type": contentType }),
  };
}

function headerText(value: string | string[] | undefined): string | null {
  const first = Array.isArray(value) ? value[0] : value;
  return first?.slice(0, MAX_HEADER_LENGTH) ?? null;
}

/** @param location where a redirect leads; null: it is not mentioned. */
export function describeStatus(status: number, location: string | null): string {
  if (location !== null && status >= 300 && status < 400)
    return sentenceOf("net_redirect", { status, location });
  const meaning = STATUS_CODES[status];
  return sentenceOf("net_status", { reason: meaning === undefined ? status : `${status} ${meaning}` });
}

/** Decodes up to this many bytes. A character cut in two by the limit is left out; PostgreSQL can't store NUL. */
function decode(parts: readonly Buffer[], maxBytes: number): string {
  if (parts.length === 0) return "";
  const all = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  const text =
    all.length > maxBytes
      ? new TextDecoder().decode(all.subarray(0, maxBytes), { stream: true })
      : all.toString("utf8");
  return text.replaceAll("\0", "\ufffd");
}
