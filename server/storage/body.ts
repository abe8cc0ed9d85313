import { Readable } from "node:stream";
import { BodyBrokenError, ObjectTooLargeError } from "./store.ts";

/** What a body is held against while it comes; bytes. */
export interface BodyRules {
  readonly maxBytes?: number;
  readonly contentLength?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads a body chunk by chunk, holding it against its rules. The last chunk comes only once the end is known to be
 * right, so who has passed on `contentLength` bytes knows that no more follow.
 * @throws ObjectTooLargeError, BodyBrokenError (it ended early, is longer or shorter than announced, or the signal
 * gave it up; the body is then destroyed). Otherwise a body that is not read to its end stays as it is: destroying it
 * would cut the connection on which the refusal has to go out.
 */
export async function* readBody(
  source: Readable | Buffer,
  rules: BodyRules,
): AsyncGenerator<Buffer, void, undefined> {
  const body = Buffer.isBuffer(source) ? Readable.from([source]) : source;
  const { maxBytes = Number.POSITIVE_INFINITY, contentLength, signal } = rules;
  if (contentLength !== undefined && contentLength > maxBytes) throw tooLarge(maxBytes);
  const giveUp = (): void => {
    body.destroy(new Error("given up", { cause: signal?.reason }));
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
    // What arrived before a cut is passed on first: an append keeps it.
    if (error instanceof BodyCut) {
      if (held !== undefined && contentLength === undefined) yield held;
      throw new BodyBrokenError("the body was cut before its end", { cause: error.cause });
    }
    throw error;
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

/** @throws BodyBrokenError when the signal has given the call up. @param cause what that led to. */
export function refuseIfGivenUp(signal: AbortSignal | undefined, cause?: unknown): void {
  if (signal?.aborted)
    throw new BodyBrokenError("given up before its end", { cause: cause ?? signal.reason });
}

/** Tells a fault of the body from one thrown by whoever reads it. */
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
