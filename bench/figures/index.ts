import { join } from "node:path";
import { type BenchDatabase, type BenchPostgres, startBenchPostgres } from "../database.ts";
import { type Dataset, dataset } from "../datasets.ts";
import { type Load, startLoad } from "../load.ts";
import type { Figure } from "../report.ts";
import { benchSecret, type RunningServer, startParley } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { measureBackup } from "./backup.ts";
import { measureHooks } from "./hooks.ts";
import { measureLatency } from "./latency.ts";
import { measureList } from "./list.ts";
import { measureManyWorkspaces } from "./many-workspaces.ts";
import { measureAvailable } from "./media-available.ts";
import { measureDownload, measureUpload } from "./media-transfer.ts";
import { measureSearch } from "./search.ts";
import { measureSpeech } from "./speech.ts";
import { measureStart } from "./start.ts";
import { measureTranscript } from "./transcript.ts";
import { measureValidation } from "./validation.ts";
import { measureWeb } from "./web.ts";
import { measureWrites } from "./writes.ts";

/** One for all servers, so that the baseline can write the same URLs. */
const baseUrl = "http://localhost:3000";

type Measure = (postgres: BenchPostgres, sizes: Sizes) => Promise<Figure[]>;

const withoutDatabase = {
  start: measureStart,
  judge: measureValidation,
} as const satisfies Record<string, (sizes: Sizes) => Promise<Figure[]>>;

const withDatabase = {
  list: measureLists,
  transcript: measureTranscripts,
  writes: measureWrites,
  upload: measureUpload,
  download: measureDownload,
  available: measureAvailable,
  speech: measureSpeech,
  hooks: measureHooks,
  search: measureSearch,
  backup: measureBackup,
  web: measureWeb,
  workspaces: measureManyWorkspaces,
} as const satisfies Record<string, Measure>;

export type FigureGroup = keyof typeof withoutDatabase | keyof typeof withDatabase;

export const figureGroups = [
  ...Object.keys(withoutDatabase),
  ...Object.keys(withDatabase),
] as readonly FigureGroup[];

/** Groups that are measured only when they are named: they take hours and tens of gigabytes. */
const onlyByName: readonly FigureGroup[] = ["workspaces"];

export const usualGroups = figureGroups.filter((group) => !onlyByName.includes(group));

/** Measures the groups one after the other, on a PostgreSQL of its own. */
export async function measureAll(options: {
  readonly sizes: Sizes;
  readonly only: ReadonlySet<FigureGroup>;
  readonly folder: string | null;
}): Promise<Figure[]> {
  const { sizes, only } = options;
  const figures: Figure[] = [];
  for (const [group, measure] of Object.entries(withoutDatabase)) {
    if (!only.has(group as FigureGroup)) continue;
    console.error(group);
    figures.push(...(await measure(sizes)));
  }
  const groups = Object.entries(withDatabase).filter(([group]) => only.has(group as FigureGroup));
  if (groups.length === 0) return figures;
  const postgres = await startBenchPostgres(options.folder);
  // PostgreSQL survives this process unless it is stopped.
  process.once("SIGINT", () => postgres.stop().finally(() => process.exit(130)));
  try {
    for (const [group, measure] of groups) {
      console.error(group);
      figures.push(...(await measure(postgres, sizes)));
    }
  } finally {
    await postgres.stop();
  }
  return figures;
}

async function measureTranscripts(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const data = await dataset(postgres, "parley_small", sizes.smallRecordings, sizes);
  return serve(postgres, [data], sizes, (load, [server]) =>
    measureTranscript(load, { data, server: server as RunningServer }, sizes),
  );
}

async function measureLists(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const smallData = await dataset(postgres, "parley_small", sizes.smallRecordings, sizes);
  const largeData = await dataset(postgres, "parley_large", sizes.recordings, sizes);
  return serve(postgres, [largeData, smallData], sizes, async (load, [largeServer, smallServer]) => {
    const large = { data: largeData, server: largeServer as RunningServer };
    const small = { data: smallData, server: smallServer as RunningServer };
    return [
      ...(await measureList(load, large.server, largeData, baseUrl, sizes)),
      ...(await measureLatency(load, large, small, sizes)),
    ];
  });
}

/** Starts a server on each database, and stops them afterwards. */
async function serve(
  postgres: BenchPostgres,
  databases: readonly BenchDatabase<Dataset>[],
  sizes: Sizes,
  measure: (load: Load, servers: readonly RunningServer[]) => Promise<Figure[]>,
): Promise<Figure[]> {
  const servers: RunningServer[] = [];
  const load = startLoad(sizes);
  try {
    for (const { url, connection } of databases)
      servers.push(
        await startParley({
          PARLEY_ROLE: "api",
          PARLEY_DATABASE_URL: url,
          PARLEY_DATA_DIR: join(postgres.folder, connection.database),
          PARLEY_BASE_URL: baseUrl,
          PARLEY_SECRET: benchSecret,
        }),
      );
    return await measure(load, servers);
  } finally {
    load.stop();
    for (const server of servers) await server.stop();
  }
}
