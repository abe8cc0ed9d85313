import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import { because } from "../../../../contract/causes/causes.ts";
import { ProblemError } from "../errors/problem.ts";

/** How long parts of a request may take, in milliseconds. */
export interface TimeLimits {
  /** From the first byte of a request, or from the connection, until its headers have arrived. */
  readonly headersMs: number;
  /** From the headers until the body has arrived; routes that receive files handle stalled senders themselves. */
  readonly bodyMs: number;
  /** From the body until the response. */
  readonly handlingMs: number;
  /** How long a client may read nothing of its response. */
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
 * Responds with 503 when a handler takes too long, so that clients don't wait indefinitely. The handler continues, and its
 * response is dropped.
 */
export function limitHandlingTime(app: FastifyInstance, limitMs: number): void {
  const timers = new WeakMap<FastifyReply, NodeJS.Timeout>();
  app.addHook("preHandler", (request, reply, done) => {
    if (!request.routeOptions.config.takesFiles) {
      const timer = setTimeout(() => {
        // A file is being sent outside the framework.
        if (reply.sent || reply.raw.headersSent) return;
        void reply.send(
          new ProblemError("unavailable", because("request_too_slow"), {
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
  // Once the response has started, `limitReadingTime` applies.
  app.addHook("onSend", (_request, reply, _payload, done) => {
    clearTimeout(timers.get(reply));
    done();
  });
}

/** Clients that read more slowly than this, 16 kB/s, do it on purpose. */
const minBytesPerMs = 16;

/** Responses of this size fit into the system's buffers, so it can't be seen whether the client reads them. */
const unseenBytes = 64 * 1024;

/**
 * Cuts the connection of a client that does not read its response, or only a byte now and then: the response would stay in
 * memory. Files sent outside the framework are handled in send-file.ts.
 */
export function limitReadingTime(app: FastifyInstance, limitMs: number): void {
  app.addHook("onSend", (_request, reply, payload, done) => {
    const { raw } = reply;
    if (payload === null || payload === undefined) return done();
    const { length } = payload as { length?: number };
    // Streams have no length: an export may take hours as long as the client keeps reading.
    if (length !== undefined) {
      const timer = setTimeout(() => raw.socket?.destroy(), limitMs + length / minBytesPerMs);
      timer.unref();
      raw.once("close", () => clearTimeout(timer));
      // Restarts whenever the client reads or sends something.
      if (length > unseenBytes) raw.setTimeout(limitMs, () => raw.socket?.destroy());
    } else {
      // With those of Fastify, a streamed response has eleven listeners; Node.js warns of a leak above ten.
      raw.setMaxListeners(16);
      cutWhenStalled(raw, limitMs);
    }
    done();
  });
}

/**
 * Cuts the connection of a streamed response when the client reads nothing for a while. A socket timeout does not suffice: it
 * also restarts when the client sends something.
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
