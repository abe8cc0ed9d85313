import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { ProblemError } from "./problem.ts";

/** How long parts of a request may take, in milliseconds. */
export interface TimeLimits {
  /** From the first byte of a request, or from the connection, until its headers are there. */
  readonly headersMs: number;
  /** From the headers until the body is there; routes that take files look themselves after senders that fall silent. */
  readonly bodyMs: number;
  /** From the body until there is an answer. */
  readonly handlingMs: number;
  /** How long a client may take nothing of an answer that is there. */
  readonly readingMs: number;
}

export const timeLimits: TimeLimits = {
  headersMs: 30_000,
  // A client that sends for longer is not sending a transcript.
  bodyMs: 120_000,
  handlingMs: 60_000,
  readingMs: 120_000,
};

/**
 * Answers 503 when a handler takes too long: a client that waits for ever holds a connection, and believes that
 * something is still going to happen. What the handler does by then goes on by itself; its answer is dropped.
 */
export function limitHandlingTime(app: FastifyInstance, limitMs: number): void {
  const timers = new WeakMap<FastifyReply, NodeJS.Timeout>();
  app.addHook("preHandler", (request, reply, done) => {
    if (!request.routeOptions.config.takesFiles) {
      const timer = setTimeout(() => {
        // Taken out of the framework's hands: a file on its way.
        if (reply.sent || reply.raw.headersSent) return;
        void reply.send(
          new ProblemError("unavailable", "the request took too long to handle; try again later", {
            headers: { "retry-after": "10" },
          }),
        );
      }, limitMs);
      timer.unref();
      timers.set(reply, timer);
      reply.raw.once("close", () => clearTimeout(timer));
    }
    done();
  });
  // An answer that has begun, also one that is still being written, is the reader's to take.
  app.addHook("onSend", (_request, reply, _payload, done) => {
    clearTimeout(timers.get(reply));
    done();
  });
}

/** Who takes an answer more slowly than this does it on purpose: 16 kB/s. */
const slowestBytesPerMs = 16;

/** Answers of this size fit into the buffers of the system, so whether they are taken can't be seen. */
const unseenBytes = 64 * 1024;

/**
 * Cuts the connection of a client that asks and does not take the answer, or only a byte now and then: each would keep
 * it in memory for as long as it likes. Files that are sent past the framework (send-file.ts) are looked after there.
 */
export function limitReadingTime(app: FastifyInstance, limitMs: number): void {
  app.addHook("onSend", (_request, reply, payload, done) => {
    const { raw } = reply;
    if (payload === null || payload === undefined) return done();
    const { length } = payload as { length?: number };
    // A stream has none: an export may take hours, as long as it goes on.
    if (length !== undefined) {
      const timer = setTimeout(() => raw.socket?.destroy(), limitMs + length / slowestBytesPerMs);
      timer.unref();
      raw.once("close", () => clearTimeout(timer));
      // Starts anew with whatever is taken, and with whatever the client sends meanwhile.
      if (length > unseenBytes) raw.setTimeout(limitMs, () => raw.socket?.destroy());
    } else cutWhenStalled(raw, limitMs);
    done();
  });
}

/**
 * Cuts the connection of a response, written piece by piece, of which not one piece was taken in a while. The timeout of
 * a socket would not do: it begins anew also when the client sends something.
 */
export function cutWhenStalled(response: ServerResponse, limitMs: number): void {
  const { socket } = response;
  if (socket === null) return;
  let taken = -1;
  const timer = setInterval(() => {
    const now = socket.bytesWritten - socket.writableLength;
    if (now === taken) socket.destroy();
    taken = now;
  }, limitMs);
  timer.unref();
  response.once("close", () => clearInterval(timer));
}
