import { STATUS_CODES } from "node:http";
import type { Dispatcher } from "undici";
import { inWords } from "./send-errors.ts";

/** What came of an attempt. */
export interface HookAnswer {
  /** The status was 2xx. What became of the body does not matter. */
  readonly ok: boolean;
  /** Null when no answer came. */
  readonly status: number | null;
  /** What came of these two. */
  readonly headers: { readonly "retry-after"?: string; readonly "content-type"?: string };
  /** The beginning of the body as text that PostgreSQL can store; what is no UTF-8 becomes U+FFFD. */
  readonly body: string;
  /** There was or would have been more of it. */
  readonly truncated: boolean;
  /** Why it is not ok, in plain words. Null exactly when it is. */
  readonly error: string | null;
  /** The caller ended it, by `signal` or `close`, before an answer came: that says nothing about the receiver. */
  readonly isStopped: boolean;
  readonly durationMs: number;
}

export interface AnswerCollector {
  /** For undici, which calls it while the request goes out and the answer comes in. */
  readonly handler: Dispatcher.DispatchHandler;
  readonly fail: (reason: string) => void;
  readonly timeOut: (limitMs: number) => void;
  readonly stop: () => void;
  /** What to do when the answer is given. */
  readonly whenOver: (tidy: () => void) => void;
}

/** Puts an answer together, and gives it once: at its end, when there is enough of it, or when its time is over. */
export function collectAnswer(maxBytes: number, give: (answer: HookAnswer) => void): AnswerCollector {
  const startedAt = performance.now();
  const parts: Buffer[] = [];
  let bytes = 0;
  let status: number | null = null;
  let headers: HookAnswer["headers"] = {};
  let location: string | null = null;
  let connection: Dispatcher.DispatchController | null = null;
  let isOver = false;
  let tidy = (): void => {};

  /** Gives what has come so far; `reason` counts where no status came. */
  function end(reason: string, truncated: boolean, isStopped = false): void {
    if (isOver) return;
    isOver = true;
    tidy();
    const ok = status !== null && status >= 200 && status < 300;
    const refusal = status === null ? reason : sayStatus(status, location);
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

  /** Ends it before the answer does. The connection cannot be used again: the rest would still come. */
  function cut(reason: string, isStopped = false): void {
    if (isOver) return;
    end(reason, status !== null, isStopped);
    connection?.abort(new Error(reason));
  }

  return {
    fail: (reason) => end(reason, false),
    timeOut: (limitMs) =>
      cut(`no ${connection === null ? "connection" : "answer"} within ${limitMs / 1000} s`),
    stop: () => cut("sending was stopped", true),
    whenOver: (then) => {
      tidy = then;
    },
    handler: {
      onRequestStart: (controller) => {
        connection = controller;
        // Its time ended while it waited for the connection; undici has no way to take it back before.
        if (isOver) controller.abort(new Error("too late"));
      },
      onResponseStart: (_controller, code, received) => {
        // 1xx come before the answer.
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
      onResponseError: (_controller, error) => end(inWords(error), status !== null),
    },
  };
}

/** Longest part of a header that is kept. */
const MAX_HEADER_LENGTH = 200;

function pick(received: Readonly<Record<string, string | string[] | undefined>>): HookAnswer["headers"] {
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

function sayStatus(status: number, location: string | null): string {
  if (location !== null && status >= 300 && status < 400)
    return `the answer was a redirect (${status}), which is not followed, to ${location}`;
  const meaning = STATUS_CODES[status];
  return `the answer was ${status}${meaning === undefined ? "" : ` ${meaning}`}`;
}

/** Up to so many bytes as text. A character that the limit cuts in two is left out; NUL is nothing PostgreSQL stores. */
function decode(parts: readonly Buffer[], maxBytes: number): string {
  if (parts.length === 0) return "";
  const all = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  const text =
    all.length > maxBytes
      ? new TextDecoder().decode(all.subarray(0, maxBytes), { stream: true })
      : all.toString("utf8");
  return text.replaceAll("\0", "\ufffd");
}
