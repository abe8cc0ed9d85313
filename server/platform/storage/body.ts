import { Readable } from "node:stream";
import { BodyBrokenError, ObjectTooLargeError } from "./store.ts";

/** The limits that a body is checked against while it arrives; bytes. */
export interface BodyRules {
  readonly maxBytes?: number;
  readonly contentLength?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads a body chunk by chunk, checking it against its limits. The last chunk is passed on only once the end is known
 * to be correct, so after `contentLength` bytes no more follow.
 * @throws ObjectTooLargeError, BodyBrokenError (it ended early, is longer or shorter than announced, or was aborted by
 * the signal; the body is then destroyed). Otherwise a body that is not read to its end is left open: destroying it
 * would close the connection on which the refusal has to be sent.
 */
export async function* readBody(
  source: Readable | Buffer,
  rules: BodyRules,
): AsyncGenerator<Buffer, void, undefined> {
  const body = Buffer.isBuffer(source) ? Readable.from([source]) : source;
  const { maxBytes = Number.POSITIVE_INFINITY, contentLength, signal } = rules;
  if (contentLength !== undefined && contentLength > maxBytes) throw tooLarge(maxBytes);
  const giveUp = (): void => {
    body.destroy(new Error("aborted", { cause: signal?.reason }));
  };
  if (signal?.aborted) giveUp();
  signal?.addEventListener("abort", giveUp, { once: true });
  let size = 0;
  let held: Buffer | undefined;
  try {
    for await (const chunk of sourceOf(body)) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (contentLength !== undefined && size > contentLength)
        throw new BodyBrokenError(`the body is longer than the ${contentLength} bytes announced`);
      if (held !== undefined) yield held;
      held = chunk;
    }
    if (contentLength !== undefined && size < contentLength)
      throw new BodyBrokenError(`the body ended after ${size} of ${contentLength} bytes`);
    if (held !== undefined) yield held;
  } catch (error) {
    // Bytes that arrived before a broken connection are passed on first: an append keeps them.
    if (error instanceof BodyCut) {
      if (held !== undefined && contentLength === undefined) yield held;
      throw new BodyBrokenError("the body was cut before its end", { cause: error.cause });
    }
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

/** @throws BodyBrokenError when the signal has aborted the call. @param cause the error that followed from that. */
export function throwIfAborted(signal: AbortSignal | undefined, cause?: unknown): void {
  if (signal?.aborted) throw new BodyBrokenError("aborted before its end", { cause: cause ?? signal.reason });
}

/** Distinguishes an error of the body from one thrown by its reader. */
class BodyCut extends Error {}

async function* sourceOf(body: Readable): AsyncGenerator<Buffer, void, undefined> {
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer | string>;
  let isDone = false;
  try {
    for (;;) {
      let next: IteratorResult<Buffer | string>;
      try {
        next = await chunks.next();
      } catch (error) {
        isDone = true;
        throw new BodyCut("cut", { cause: error });
      }
      if (next.done) {
        isDone = true;
        return;
      }
      yield typeof next.value === "string" ? Buffer.from(next.value) : next.value;
    }
  } finally {
    if (!isDone) await chunks.return?.();
  }
}

function tooLarge(maxBytes: number): ObjectTooLargeError {
  return new ObjectTooLargeError(`the body is longer than the ${maxBytes} bytes allowed`);
}
