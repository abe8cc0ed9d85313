import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Sizes } from "./sizes.ts";

/** One request, to be sent again and again. */
export interface Target {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface LoadTask extends Target {
  readonly concurrency: number;
  /** Not counted. */
  readonly warmUpMs: number;
  readonly durationMs: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly bytesEach: number;
}

/** Throughput is taken with eight clients at once, latency with one. */
type Measure = "throughput" | "latency";

/** Two targets measured in turns. */
export interface Comparison {
  /** Requests or megabytes per second, milliseconds or seconds: the median of the rounds. */
  readonly baseline: number;
  readonly subject: number;
  /** Subject / baseline: the median of the rounds, the least and the greatest. */
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
}

export interface Load {
  run(task: LoadTask): Promise<LoadResult>;
  /** Lets baseline and subject take turns. @param loadMs of each turn, for throughput; as in the sizes by default. */
  compare(
    measure: Measure,
    baseline: Target,
    subject: Target,
    rounds: number,
    loadMs?: number,
  ): Promise<Comparison>;
  stop(): void;
}

const concurrency: Readonly<Record<Measure, number>> = { throughput: 8, latency: 1 };

/** Starts the process that makes the load. */
export function startLoad(sizes: Pick<Sizes, "warmUpMs" | "loadMs">): Load {
  const child: ChildProcess = fork(new URL("./load-process.ts", import.meta.url));
  const load: Load = {
    async run(task) {
      child.send(task);
      const [answer] = (await once(child, "message")) as [{ result?: LoadResult; error?: string }];
      if (answer.result === undefined) throw new Error(answer.error ?? "the load generator gave no answer");
      return answer.result;
    },
    async compare(measure, baseline, subject, rounds, loadMs = sizes.loadMs) {
      const measureOnce = async (target: Target, durationMs: number): Promise<number> => {
        const settings = { concurrency: concurrency[measure], warmUpMs: sizes.warmUpMs / 5, durationMs };
        const result = await load.run({ ...target, ...settings });
        return measure === "throughput" ? result.perSecond : result.medianMs;
      };
      for (const target of [baseline, subject]) await measureOnce(target, sizes.warmUpMs);
      const durationMs = measure === "throughput" ? loadMs : sizes.loadMs * 0.6;
      return takeTurns(
        rounds,
        () => measureOnce(baseline, durationMs),
        () => measureOnce(subject, durationMs),
      );
    },
    stop() {
      child.disconnect();
    },
  };
  return load;
}

/** Measures both again and again, who begins changing from round to round, so that a slow moment of the machine hits both. */
export async function takeTurns(
  rounds: number,
  baseline: () => Promise<number>,
  subject: () => Promise<number>,
): Promise<Comparison> {
  const seen: { baseline: number; subject: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const early = round % 2 === 0 ? await baseline() : Number.NaN;
    const result = await subject();
    seen.push({ baseline: round % 2 === 0 ? early : await baseline(), subject: result });
  }
  const ratios = seen.map((round) => round.subject / round.baseline);
  return {
    baseline: median(seen.map((round) => round.baseline)),
    subject: median(seen.map((round) => round.subject)),
    ratio: median(ratios),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
