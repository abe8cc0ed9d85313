import { parseArgs } from "node:util";
import { type FigureGroup, figureGroups } from "./figures/index.ts";
import { fullSizes, quickSizes, type Sizes } from "./sizes.ts";

export interface Options {
  readonly sizes: Sizes;
  readonly only: ReadonlySet<FigureGroup>;
  /** Keeps the generated databases here and reuses them; null: a temporary folder, removed at the end. */
  readonly folder: string | null;
}

export const usage = `npm run bench -- [options]
  --recordings N    recordings in the large workspace (default 1000000)
  --quick           50,000 recordings, smaller files, three rounds
  --only A,B        some of: ${figureGroups.join(", ")} (default: all)
  --rounds N        how often baseline and subject take turns (default 5)
  --speech-model FOLDER   the speech model to measure, as four files (default: the tests' tiny one)
  --speech-minutes N      length of the audio that is transcribed (default 60)
  --language-model FILE   the language model to measure, as GGUF (default: the tests' tiny one)
  --data FOLDER     keep the databases there and reuse them`;

/**
 * Reads the command line.
 * @throws Error with one line that says what is wrong.
 */
export function readOptions(args: readonly string[]): Options | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      recordings: { type: "string" },
      quick: { type: "boolean", default: false },
      only: { type: "string", default: figureGroups.join(",") },
      rounds: { type: "string" },
      "speech-model": { type: "string" },
      "speech-minutes": { type: "string" },
      "language-model": { type: "string" },
      data: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const sizes = values.quick ? quickSizes : fullSizes;
  const minutes = values["speech-minutes"];
  return {
    sizes: {
      ...sizes,
      ...(values.recordings === undefined
        ? {}
        : { recordings: readCount("--recordings", values.recordings, 1000) }),
      speech: {
        model: values["speech-model"] ?? null,
        seconds:
          minutes === undefined ? sizes.speech.seconds : 60 * readCount("--speech-minutes", minutes, 1),
      },
      language: { ...sizes.language, model: values["language-model"] ?? null },
      ...(values.rounds === undefined ? {} : { rounds: readCount("--rounds", values.rounds, 1) }),
    },
    only: new Set(values.only.split(",").map(readGroup)),
    folder: values.data ?? null,
  };
}

function readCount(name: string, text: string, min: number): number {
  const count = Number(text.replaceAll("_", ""));
  if (!Number.isSafeInteger(count) || count < min)
    throw new Error(`${name} must be a whole number of at least ${min}`);
  return count;
}

function readGroup(text: string): FigureGroup {
  const group = figureGroups.find((name) => name === text.trim());
  if (group === undefined) throw new Error(`--only takes some of ${figureGroups.join(", ")}, not "${text}"`);
  return group;
}
