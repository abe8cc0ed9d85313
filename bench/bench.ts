import { join } from "node:path";
import { buildWebApp } from "../server/operations/web/build.ts";
import { type Dataset, dataset } from "./data/dataset.ts";
import { type BenchDatabase, type BenchPostgres, startBenchPostgres } from "./database.ts";
import { benchSecret, type RunningServer, startParley } from "./servers.ts";
import type { Sizes } from "./sizes.ts";

/** A running server and the data it serves. */
export interface Served {
  readonly server: RunningServer;
  readonly data: BenchDatabase<Dataset>;
  /** Where the server keeps its files. */
  readonly folder: string;
}

/** What the figures share: one PostgreSQL, and one server with everything for all that don't disturb each other. */
export interface Bench {
  readonly sizes: Sizes;
  readonly postgres: BenchPostgres;
  /** The server with all roles and ten thousand recordings; started when it is first asked for. */
  main(): Promise<Served>;
  /** Starts a server on a database of its own, which stops with the bench at the latest. */
  start(data: BenchDatabase<unknown>, env: Readonly<Record<string, string>>): Promise<RunningServer>;
  stop(): Promise<void>;
}

/** @param folder keeps the databases; null: a temporary one. */
export async function startBench(sizes: Sizes, folder: string | null): Promise<Bench> {
  const postgres = await startBenchPostgres(folder);
  const servers: RunningServer[] = [];
  const folderOf = (data: BenchDatabase<unknown>): string => join(postgres.folder, data.connection.database);
  const start: Bench["start"] = async (data, env) => {
    const server = await startParley({
      PARLEY_DATABASE_URL: data.url,
      PARLEY_DATA_DIR: folderOf(data),
      PARLEY_SECRET: benchSecret,
      ...env,
    });
    servers.push(server);
    return server;
  };
  const startMain = async (): Promise<Served> => {
    await buildWebApp((line) => console.error(`  ${line}`));
    const data = await dataset(postgres, "parley_small", sizes.smallRecordings, sizes);
    const server = await start(data, {
      PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
      // The sender is measured, not its limit.
      PARLEY_HOOK_REQUESTS_PER_HOST_PER_MINUTE: "0",
    });
    return { data, server, folder: folderOf(data) };
  };
  let main: Promise<Served> | null = null;
  return {
    sizes,
    postgres,
    main: () => {
      main ??= startMain();
      return main;
    },
    start,
    async stop() {
      for (const server of servers) await server.stop();
      await postgres.stop();
    },
  };
}
