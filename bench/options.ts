import { parseArgs } from "node:util";

export const figureGroups = [
  "list",
  "transcript",
  "token",
  "start",
  "upload",
  "download",
  "available",
  "judge",
  "hooks",
  "search",
  "web",
] as const;
export type FigureGroup = (typeof figureGroups)[number];

export interface Options {
  readonly recordings: number;
  /** Files are smaller as well. */
  readonly isQuick: boolean;
  readonly only: ReadonlySet<FigureGroup>;
  /** Keeps the generated databases here and uses them again; without it a temporary folder is made and removed. */
  readonly folder: string | null;
  /** How often baseline and subject take turns. */
  readonly rounds: number;
}

export const usage = `npm run bench -- [options]
  --recordings N    how many recordings the large workspace has (1000000)
  --quick           --recordings 50000, and smaller files
  --only A,B        some of: ${figureGroups.join(", ")}
  --rounds N        how often baseline and subject take turns (5)
  --data FOLDER     keep the databases there and use them again`;

/**
 * Reads the command line.
 * @throws Error with one line that says what is wrong.
 */
export function readOptions(args: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      recordings: { type: "string", default: "1000000" },
      quick: { type: "boolean", default: false },
      only: { type: "string", default: figureGroups.join(",") },
      rounds: { type: "string", default: "5" },
      data: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  return {
    isQuick: values.quick,
    recordings: values.quick ? 50_000 : readCount("--recordings", values.recordings, 1000),
    only: new Set(values.only.split(",").map(readGroup)),
    folder: values.data ?? null,
    rounds: readCount("--rounds", values.rounds, 1),
  };
}

function readCount(name: string, text: string, least: number): number {
  const count = Number(text.replaceAll("_", ""));
  if (!Number.isSafeInteger(count) || count < least)
    throw new Error(`${name} must be a whole number of at least ${least}`);
  return count;
}

function readGroup(text: string): FigureGroup {
  const group = figureGroups.find((name) => name === text.trim());
  if (group === undefined) throw new Error(`--only takes some of ${figureGroups.join(", ")}, not "${text}"`);
  return group;
}
