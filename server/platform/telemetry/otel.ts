import { readFileSync } from "node:fs";
import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from "@opentelemetry/sdk-trace-node";
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import type pg from "pg";
import { agentOptionsFor } from "../outbound/proxy.ts";
import { operationName, statusOf } from "./requests.ts";
import type { SpanNotes, Statement, TracedWork, Tracing } from "./trace.ts";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** How long a stop waits for the collector. */
const flushMs = 3000;

/** Probes of load balancers, which would fill every trace list. */
const untracedRoutes: ReadonlySet<string | undefined> = new Set(["/healthz", "/readyz"]);

/** Longer statements are cut. */
const maxStatementChars = 1000;

/**
 * Records traces with OpenTelemetry's SDK, which reads its own variables (OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS,
 * OTEL_TRACES_SAMPLER and others), and sends them in batches. If the collector is away, spans beyond a limit are dropped.
 */
export function recordTraces(role: string, log: Pick<FastifyBaseLogger, "warn" | "info">): Tracing {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: common } = process.env;
  const endpoint = own || common || "http://localhost:4318";
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(
        resourceFromAttributes({ "service.name": "parley", "service.version": version, "parley.role": role }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(
        reportOutages(
          new OTLPTraceExporter({ httpAgentOptions: { keepAlive: true, ...agentOptionsFor(endpoint) } }),
          log,
        ),
      ),
    ],
  });
  provider.register();
  const tracer = provider.getTracer("parley", version);
  return {
    run: (work, body) => runTraced(tracer, work, body),
    watchRequests: (app) => watchRequests(tracer, app),
    watchPool: (pool) => watchPool(tracer, pool),
    async stop() {
      const timeout = new Promise((resolve) => void setTimeout(resolve, flushMs).unref());
      // An unreachable collector has been logged.
      await Promise.race([provider.shutdown().catch(() => undefined), timeout]);
    },
  };
}

/** Logs once when the collector can't be reached, and once when it can be again. */
function reportOutages(exporter: SpanExporter, log: Pick<FastifyBaseLogger, "warn" | "info">): SpanExporter {
  let isAway = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed && !isAway)
          log.warn(
            { err: result.error },
            "traces can't be sent to the collector; spans are dropped until it is back",
          );
        if (!hasFailed && isAway) log.info("traces are sent to the collector again");
        isAway = hasFailed;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

const kinds = { consumer: SpanKind.CONSUMER, client: SpanKind.CLIENT } as const;

async function runTraced<T>(
  tracer: Tracer,
  { name, kind, attributes }: TracedWork,
  body: (notes: SpanNotes) => Promise<T>,
): Promise<T> {
  // Background work is often woken by a request, but is no part of it.
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes, root: true });
  return context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
    endWith(span, () =>
      body({
        set: (more) => void span.setAttributes(more),
        fail: (reason) => void span.setStatus({ code: SpanStatusCode.ERROR, message: reason }),
      }),
    ),
  );
}

/** Ends the span with the work. Of an error, only its kind is recorded: messages may quote data. */
async function endWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { name, code } = error as Error & { code?: unknown };
    span.setAttribute("error.type", typeof code === "string" ? code : (name ?? "Error"));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

function watchRequests(tracer: Tracer, app: FastifyInstance): void {
  const contexts = new WeakMap<FastifyRequest, Context>();
  app.addHook("onRequest", (request, _reply, done) => {
    if (untracedRoutes.has(request.routeOptions.url)) return done();
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const attributes: Attributes = { "http.request.method": request.method, "parley.request_id": request.id };
    // Not the path, which may hold the token of a public link.
    if (request.routeOptions.url !== undefined) attributes["http.route"] = request.routeOptions.url;
    const name =
      request.routeOptions.config.operation?.id ?? `${request.method} ${request.routeOptions.url ?? ""}`;
    const span = tracer.startSpan(name.trim(), { kind: SpanKind.SERVER, attributes }, parent);
    const own = trace.setSpan(parent, span);
    contexts.set(request, own);
    context.with(own, done);
  });
  // Reading the body loses the context, because its events come from the connection.
  app.addHook("preValidation", (request, _reply, done) => {
    const own = contexts.get(request);
    if (own === undefined) done();
    else context.with(own, done);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const own = contexts.get(request);
    const span = own && trace.getSpan(own);
    if (span !== undefined) {
      const status = statusOf(reply);
      span.setAttributes({
        "parley.operation": operationName(request),
        "parley.api_version": request.apiVersion ?? "none",
        "http.response.status_code": status,
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    }
    done();
  });
}

/**
 * Records the statements of traced work: those of the pool itself, and of connections taken from it. Statements outside of
 * traced work, such as the polling of workers, are not recorded.
 */
function watchPool(tracer: Tracer, pool: pg.Pool): void {
  const query = pool.query.bind(pool) as (...values: unknown[]) => Promise<unknown>;
  const connect = pool.connect.bind(pool) as (...values: unknown[]) => Promise<pg.PoolClient>;
  /** Connections in use by others than the pool's own `query`, which is recorded itself. */
  const taken = new WeakSet<pg.PoolClient>();
  const watched = new WeakSet<pg.PoolClient>();
  pool.on("release", (_error, client) => void taken.delete(client));

  const record =
    (run: (...values: unknown[]) => Promise<unknown>, isRecorded: () => boolean) =>
    (...values: unknown[]): Promise<unknown> => {
      const isPlain = typeof values.at(-1) !== "function" && isStatement(values[0]);
      if (!isPlain || !isRecorded()) return run(...values);
      return runStatement(tracer, values[0] as Statement, () => run(...values));
    };

  function watch(client: pg.PoolClient): pg.PoolClient {
    taken.add(client);
    if (watched.has(client)) return client;
    watched.add(client);
    const own = client.query.bind(client) as (...values: unknown[]) => Promise<unknown>;
    Object.assign(client, { query: record(own, () => taken.has(client)) });
    return client;
  }

  Object.assign(pool, {
    query: record(query, () => true),
    connect: (...values: unknown[]) => (values.length > 0 ? connect(...values) : connect().then(watch)),
  });
}

/** Runs a statement as a span if it belongs to traced work. */
function runStatement<T>(tracer: Tracer, statement: Statement, run: () => Promise<T>): Promise<T> {
  if (trace.getActiveSpan() === undefined) return run();
  const span = tracer.startSpan(nameOf(statement), {
    kind: SpanKind.CLIENT,
    attributes: { "db.system.name": "postgresql", "db.query.text": textOf(statement) },
  });
  return endWith(span, run);
}

/** Not a cursor or stream, which end later. */
function isStatement(value: unknown): value is Statement {
  return typeof value === "string" || (typeof value === "object" && value !== null && !("submit" in value));
}

/** The text with placeholders: values are not part of it. */
function textOf(statement: Statement): string {
  const text = typeof statement === "string" ? statement : (statement.text ?? "");
  return text.slice(0, maxStatementChars).replace(/\s+/g, " ");
}

function nameOf(statement: Statement): string {
  const name = typeof statement === "string" ? undefined : statement.name;
  return name ?? (/^\s*(\w+)/.exec(textOf(statement))?.[1]?.toUpperCase() || "statement");
}
