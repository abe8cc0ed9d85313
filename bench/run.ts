import { join } from "node:path";
import { type BenchDatabase, type BenchPostgres, startBenchPostgres } from "./database.ts";
import { type Dataset, dataset, smallSize } from "./datasets.ts";
import { measureHooks } from "./figures/hooks.ts";
import { measureJudge } from "./figures/judge.ts";
import { measureLatency } from "./figures/latency.ts";
import { measureList } from "./figures/list.ts";
import { measureAvailable } from "./figures/media-available.ts";
import { measureDownload, measureUpload } from "./figures/media-transfer.ts";
import { measureSearch } from "./figures/search.ts";
import { measureStart } from "./figures/start.ts";
import { measureTokenCheck } from "./figures/token-check.ts";
import { measureTranscript } from "./figures/transcript.ts";
import { measureWeb } from "./figures/web.ts";
import { startLoad } from "./load.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { elapsed, type Figure, report } from "./report.ts";
import { type RunningServer, startParley } from "./servers.ts";

/** One for all, so that the baseline can write the same addresses. */
const baseUrl = "http://localhost:3000";

const needsDatabase = [
  "list",
  "transcript",
  "token",
  "upload",
  "download",
  "available",
  "hooks",
  "search",
  "web",
] as const;

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") return console.log(usage);
  const startedAt = performance.now();
  const figures: Figure[] = [];
  if (options.only.has("start")) {
    console.error("start");
    figures.push(...(await measureStart()));
  }
  if (options.only.has("judge")) {
    console.error("judge");
    figures.push(...(await measureJudge((options.isQuick ? 1 : 4) * 2 ** 30, options.rounds)));
  }
  if (needsDatabase.some((group) => options.only.has(group))) {
    const postgres = await startBenchPostgres(options.folder);
    // PostgreSQL outlives us by design: it has to be told.
    process.once("SIGINT", () => postgres.stop().finally(() => process.exit(130)));
    try {
      if (options.only.has("list") || options.only.has("transcript") || options.only.has("token"))
        figures.push(...(await measureServed(postgres, options)));
      figures.push(...(await measureMedia(postgres, options)));
      if (options.only.has("hooks")) {
        console.error("hooks");
        figures.push(...(await measureHooks(postgres, options)));
      }
      if (options.only.has("search")) {
        console.error("search");
        const hours = options.isQuick ? 100 : 1000;
        figures.push(...(await measureSearch(postgres, { hours, rounds: options.rounds })));
      }
      if (options.only.has("web")) {
        console.error("web");
        figures.push(...(await measureWeb(postgres, options.rounds)));
      }
    } finally {
      await postgres.stop();
    }
  }
  report(figures, { recordings: options.recordings, rounds: options.rounds, took: elapsed(startedAt) });
}

/** Files on their way in and out, and what becomes of them. */
async function measureMedia(postgres: BenchPostgres, { only, isQuick, rounds }: Options): Promise<Figure[]> {
  const figures: Figure[] = [];
  const size = { bytes: isQuick ? 2 ** 28 : 2 ** 30, rounds };
  if (only.has("upload")) {
    console.error("upload");
    figures.push(...(await measureUpload(postgres, size)));
  }
  if (only.has("download")) {
    console.error("download");
    figures.push(...(await measureDownload(postgres, size)));
  }
  if (only.has("available")) {
    console.error("available");
    figures.push(...(await measureAvailable(postgres, isQuick ? 600 : 3600, rounds)));
  }
  return figures;
}

/** Everything that needs data: fills the databases, starts a server on each, measures. */
async function measureServed(postgres: BenchPostgres, options: Options): Promise<Figure[]> {
  console.error("data");
  const smallData = await dataset(postgres, "parley_small", smallSize);
  const largeData = options.only.has("list")
    ? await dataset(postgres, "parley_large", options.recordings)
    : null;
  const figures: Figure[] = [];
  const servers: RunningServer[] = [];
  const load = startLoad();
  const serve = async (data: BenchDatabase<Dataset>, name: string): Promise<RunningServer> => {
    const server = await startParley({
      PARLEY_ROLE: "api",
      PARLEY_DATABASE_URL: data.url,
      PARLEY_DATA_DIR: join(postgres.folder, name),
      PARLEY_BASE_URL: baseUrl,
    });
    servers.push(server);
    return server;
  };
  try {
    const small = { data: smallData, server: await serve(smallData, "small") };
    if (options.only.has("transcript")) {
      console.error("transcript");
      figures.push(...(await measureTranscript(load, small, options.rounds)));
    }
    if (options.only.has("token")) {
      console.error("token");
      figures.push(...(await measureTokenCheck(load, smallData, baseUrl, options.rounds)));
    }
    if (largeData !== null) {
      console.error("list");
      const large = { data: largeData, server: await serve(largeData, "large") };
      figures.push(...(await measureList(load, large.server, largeData, baseUrl, options.rounds)));
      figures.push(...(await measureLatency(load, large, small, options.rounds)));
    }
    return figures;
  } finally {
    load.stop();
    for (const server of servers) await server.stop();
  }
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}
