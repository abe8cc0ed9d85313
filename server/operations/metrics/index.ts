import { readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import type { Gauge, Registry } from "prom-client";
import type { Config } from "../../platform/config/config.ts";
import { type ConnectionSettings, type Database, openDatabase } from "../../platform/db/database.ts";
import { type StatusListener, sendJson } from "../../platform/http/listening/status-listener.ts";
import { createMetricsHostCheck } from "../../platform/http/origin/host-check.ts";
import { type DatabaseQuery, databaseQueries } from "./database-gauges.ts";
import { createDatabaseValues, type DatabaseValues } from "./database-values.ts";
import { countWork } from "./process-metrics.ts";
import { measureReplica } from "./replica-gauges.ts";

type PromClient = typeof import("prom-client");

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The metrics of this process, served at `/metrics`. */
export interface Metrics {
  /**
   * Adds the metrics of the database, once it is open.
   * @param db its connections and replica are reported.
   * @param queues the names of the jobs that are enqueued.
   */
  watchDatabase(
    settings: ConnectionSettings,
    db: Pick<Database, "pool" | "replica">,
    queues: readonly string[],
  ): void;
  stop(): Promise<void>;
}

/**
 * Counts what this process does, and serves it in Prometheus's text format. The library is loaded here, so that it costs
 * nothing where metrics are off.
 */
export async function startMetrics(
  listener: StatusListener,
  config: Pick<Config, "role" | "dataDir" | "baseUrl" | "host" | "trustedHosts">,
  log: FastifyBaseLogger,
): Promise<Metrics> {
  const { default: prom } = await import("prom-client");
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  new prom.Gauge({
    name: "parley_build_info",
    help: "Always 1; the labels describe the process.",
    labelNames: ["version", "role"],
    registers: [registry],
  }).set({ version, role: config.role }, 1);
  const endCounting = countWork(prom, registry);
  const refreshDisk = measureDisk(prom, registry, config.dataDir, log);
  let database: { refresh(): Promise<void>; close(): Promise<void> } | null = null;
  const scrape = shareConcurrent(async () => {
    await Promise.all([refreshDisk(), database?.refresh()]);
    // The library writes `Nan`, which the format doesn't know.
    return (await registry.metrics()).replace(/ Nan$/gm, " NaN");
  });
  const isServed = createMetricsHostCheck(config);
  listener.serve("/metrics", async (request, response) => {
    if (!isServed(request.headers.host))
      return sendJson(response, 421, {
        status: "unknown host; scrape an IP address, or add the host name to PARLEY_TRUSTED_HOSTS",
      });
    const text = await scrape();
    response.writeHead(200, { "content-type": registry.contentType });
    response.end(request.method === "HEAD" ? undefined : text);
  });
  return {
    watchDatabase(settings, { pool, replica }, queues) {
      const measured = measureDatabase(prom, registry, { settings, pool, queues, log });
      const refreshReplica = measureReplica(prom, registry, replica);
      database = {
        ...measured,
        refresh: async () => void (await Promise.all([measured.refresh(), refreshReplica()])),
      };
    },
    async stop() {
      endCounting();
      await database?.close();
    },
  };
}

/** Free and total space and inodes of the data folder's volume. Files in S3 and databases elsewhere are not on it. */
function measureDisk(
  prom: PromClient,
  registry: Registry,
  dataDir: string,
  log: Pick<FastifyBaseLogger, "warn">,
): () => Promise<void> {
  const gauge = (name: string, help: string) =>
    new prom.Gauge({ name, help, labelNames: ["volume"], registers: [registry] });
  const free = gauge("parley_disk_free_bytes", "Free space for the server on the volume of the data folder.");
  const size = gauge("parley_disk_size_bytes", "Size of the volume of the data folder.");
  const freeInodes = gauge(
    "parley_disk_free_inodes",
    "How many more files the volume of the data folder can hold; missing if its file system has no limit.",
  );
  const inodes = gauge(
    "parley_disk_inodes",
    "How many files the volume of the data folder can hold in all; missing if its file system has no limit.",
  );
  let hasFailed = false;
  return async () => {
    try {
      const { bavail, blocks, bsize, files, ffree } = await statfs(dataDir);
      free.set({ volume: "data" }, bavail * bsize);
      size.set({ volume: "data" }, blocks * bsize);
      if (files > 0) {
        freeInodes.set({ volume: "data" }, ffree);
        inodes.set({ volume: "data" }, files);
      }
      hasFailed = false;
    } catch (error) {
      free.reset();
      size.reset();
      freeInodes.reset();
      inodes.reset();
      if (!hasFailed) log.warn({ err: error }, "metrics: the free space of the data folder can't be read");
      hasFailed = true;
    }
  };
}

/** The queries of database-gauges.ts, and the connections of this process. */
function measureDatabase(
  prom: PromClient,
  registry: Registry,
  deps: {
    readonly settings: ConnectionSettings;
    readonly pool: pg.Pool;
    readonly queues: readonly string[];
    readonly log: FastifyBaseLogger;
  },
): { refresh(): Promise<void>; close(): Promise<void> } {
  const { log, pool } = deps;
  const registers = [registry];
  const queries = databaseQueries(deps.queues);
  const own = openDatabase(deps.settings, {
    maxConnections: 2,
    onError: (error) => log.debug({ err: error }, "metrics: an idle database connection broke"),
  });
  const values = createDatabaseValues(own.pool, queries, log);
  const up = new prom.Gauge({
    name: "parley_database_up",
    help: "Whether the database responds: 1 or 0. At 0, metrics that are read from it are left out.",
    registers,
  });
  const success = new prom.Gauge({
    name: "parley_metrics_query_success",
    help: "Whether the last run of this query for metrics succeeded: 1 or 0. At 0, its metrics are left out.",
    labelNames: ["query"],
    registers,
  });
  new prom.Gauge({
    name: "parley_database_connections",
    help: "Open connections of this process's pool.",
    labelNames: ["state"],
    registers,
    collect() {
      this.set({ state: "in_use" }, pool.totalCount - pool.idleCount);
      this.set({ state: "idle" }, pool.idleCount);
    },
  });
  new prom.Gauge({
    name: "parley_database_connections_max",
    help: "Most connections that the pool opens.",
    registers,
  }).set(pool.options.max);
  new prom.Gauge({
    name: "parley_database_connection_waiters",
    help: "Statements that wait for a connection of the pool.",
    registers,
    collect() {
      this.set(pool.waitingCount);
    },
  });
  const fillers = queries.map((query) => {
    const gauges = query.gauges.map(
      ({ name, help, column }) =>
        [new prom.Gauge({ name, help, labelNames: [...query.labels], registers }), column] as const,
    );
    return () => {
      for (const [metric, column] of gauges) fill(metric, column, query, values);
      const hasSucceeded = values.hasSucceeded(query);
      if (hasSucceeded !== null) success.set({ query: query.name }, hasSucceeded ? 1 : 0);
    };
  });
  return {
    async refresh() {
      await values.refresh();
      up.set(values.isUp() ? 1 : 0);
      for (const fillGauges of fillers) fillGauges();
    },
    close: () => own.close(),
  };
}

/** Replaces the values of a gauge by those of its column. An unknown value is no value: 0 would be a statement. */
function fill(metric: Gauge, column: string, query: DatabaseQuery, values: DatabaseValues): void {
  if (query.labels.length === 0) metric.remove();
  else metric.reset();
  for (const row of values.rowsOf(query) ?? []) {
    const value = row[column];
    if (value === null || value === undefined) continue;
    metric.set(Object.fromEntries(query.labels.map((label) => [label, row[label] ?? ""])), Number(value));
  }
}

/** Calls that arrive while one runs share its result. */
function shareConcurrent<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}
