import { type Bench, startBench } from "../bench.ts";
import type { Figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { measureAvailable } from "./available.ts";
import { measureBackup } from "./backup.ts";
import { measureHooks } from "./hooks.ts";
import { measureIdle } from "./idle.ts";
import { measureLanguage } from "./language.ts";
import { measureList } from "./list.ts";
import { measureMeetings } from "./meetings.ts";
import { measureSearch } from "./search.ts";
import { measureSpeech } from "./speech.ts";
import { measureStart } from "./start.ts";
import { measureTranscript } from "./transcript.ts";
import { measureTransfer } from "./transfer.ts";
import { measureWeb } from "./web.ts";
import { measureWrites } from "./writes.ts";

/** In the order in which they are measured: first what needs a server that has done nothing. */
const groups = {
  start: measureStart,
  idle: measureIdle,
  list: measureList,
  transcript: measureTranscript,
  writes: measureWrites,
  transfer: measureTransfer,
  available: measureAvailable,
  hooks: measureHooks,
  web: measureWeb,
  search: measureSearch,
  meetings: measureMeetings,
  speech: measureSpeech,
  language: measureLanguage,
  backup: measureBackup,
} as const satisfies Record<string, (bench: Bench) => Promise<Figure[]>>;

export type FigureGroup = keyof typeof groups;

export const figureGroups = Object.keys(groups) as readonly FigureGroup[];

/** Measures the groups one after the other. */
export async function measureAll(options: {
  readonly sizes: Sizes;
  readonly only: ReadonlySet<FigureGroup>;
  readonly folder: string | null;
}): Promise<Figure[]> {
  const bench = await startBench(options.sizes, options.folder);
  // PostgreSQL survives this process unless it is stopped.
  process.once("SIGINT", () => bench.stop().finally(() => process.exit(130)));
  const figures: Figure[] = [];
  try {
    for (const group of figureGroups.filter((name) => options.only.has(name))) {
      console.error(group);
      figures.push(...(await groups[group](bench)));
    }
  } finally {
    await bench.stop();
  }
  return figures;
}
