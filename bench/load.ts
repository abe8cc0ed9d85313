import { Agent, type IncomingMessage, request } from "node:http";
import type { Target } from "./api.ts";
import type { Sizes } from "./sizes.ts";

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

const concurrency: Readonly<Record<Measure, number>> = { throughput: 8, latency: 1 };

/** Lets two requests take turns: responses a second for throughput, the median in ms for latency. */
export async function compareRequests(
  { warmUpMs, loadMs, rounds }: Sizes,
  measure: Measure,
  baseline: Target,
  subject: Target,
): Promise<Comparison> {
  const durationMs = measure === "throughput" ? loadMs : loadMs * 0.6;
  const measureOnce = async (target: Target, uncountedMs: number): Promise<number> => {
    const result = await load(target, concurrency[measure], uncountedMs, durationMs);
    return measure === "throughput" ? result.perSecond : result.medianMs;
  };
  for (const target of [baseline, subject]) await measureOnce(target, warmUpMs);
  return takeTurns(
    rounds,
    () => measureOnce(baseline, warmUpMs / 5),
    () => measureOnce(subject, warmUpMs / 5),
  );
}

/** The latency of one client's requests below which 99 of a hundred lie, in ms. */
export async function p99Of({ warmUpMs, loadMs }: Sizes, target: Target): Promise<number> {
  return (await load(target, 1, warmUpMs, 4 * loadMs)).p99Ms;
}

/** Sends a request as fast as responses arrive, and reads them completely without parsing them. */
async function load(
  target: Target,
  clients: number,
  uncountedMs: number,
  durationMs: number,
): Promise<{ perSecond: number; medianMs: number; p99Ms: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const countFrom = performance.now() + uncountedMs;
  const end = countFrom + durationMs;
  const latencies: number[] = [];
  let lastMs = countFrom;
  const client = async (): Promise<void> => {
    // At least one is counted, however slow.
    for (let now = performance.now(); now < end || latencies.length === 0; ) {
      await sendOnce(target, agent);
      const done = performance.now();
      if (now >= countFrom) {
        latencies.push(done - now);
        lastMs = done;
      }
      now = done;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  agent.destroy();
  return {
    perSecond: (latencies.length * 1000) / (lastMs - countFrom),
    medianMs: median(latencies),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** Any status but 200 ends the bench. */
function sendOnce({ url, method, headers, body }: Target, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const length = body === "" ? {} : { "content-length": Buffer.byteLength(body) };
    const sent = request(
      url,
      { method, headers: { ...headers, ...length }, agent },
      (response: IncomingMessage) => {
        response.resume().on("error", reject);
        response.on("end", () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${url} returned ${response.statusCode}`));
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
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
  return compare(seen);
}

/** The medians of rounds. */
export function compare(rounds: readonly { baseline: number; subject: number }[]): Comparison {
  const ratios = rounds.map(({ baseline, subject }) => subject / baseline);
  return {
    baseline: median(rounds.map(({ baseline }) => baseline)),
    subject: median(rounds.map(({ subject }) => subject)),
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

/** The value below which 95 of a hundred lie. */
export const p95 = (values: readonly number[]): number => percentile(values, 0.95);

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}
