import type { FastifyInstance } from "fastify";
import type pg from "pg";

/** Values of a span's attributes: names, states and ids, never contents or secrets. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Work that a trace shows. */
export interface TracedWork {
  readonly name: string;
  /** consumer: takes work from a queue; client: sends a request to another program. */
  readonly kind: "consumer" | "client";
  readonly attributes: SpanAttributes;
}

/** A statement as `pg` takes it. */
export type Statement = string | { readonly name?: string | undefined; readonly text?: string | undefined };

/** Adds what is known once the work has ended. */
export interface SpanNotes {
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed although it did not throw. */
  fail(reason: string): void;
}

/** Records traces; see otel.ts. */
export interface Tracing {
  /** Runs work as a trace of its own. */
  run<T>(work: TracedWork, body: (notes: SpanNotes) => Promise<T>): Promise<T>;
  /** Records each request, as part of the caller's trace if it names one. */
  watchRequests(app: FastifyInstance): void;
  /** Records the statements of traced work. */
  watchPool(pool: pg.Pool): void;
  /** Sends what is left. */
  stop(): Promise<void>;
}

let tracing: Tracing | null = null;

/** Records the traces of this process from now on; null: none. */
export function setTracing(to: Tracing | null): void {
  tracing = to;
}

const noNotes: SpanNotes = { set: () => undefined, fail: () => undefined };

/** Runs work, and records it if traces are on. @param describe called only then. */
export function traced<T>(describe: () => TracedWork, body: (notes: SpanNotes) => Promise<T>): Promise<T> {
  return tracing === null ? body(noNotes) : tracing.run(describe(), body);
}

/** Records the requests of an application if traces are on. */
export function traceRequests(app: FastifyInstance): void {
  tracing?.watchRequests(app);
}
