import type { BenchPostgres } from "../database.ts";
import type { Figure } from "../report.ts";
import { measureHookGrowth } from "./hooks-growth.ts";
import { measureHookIdle } from "./hooks-idle.ts";
import { measureDelay, measureRate } from "./hooks-rate.ts";
import { hookData, startHookBench } from "./hooks-setup.ts";

/** Hooks and events: how fast they go out, how soon, and how that grows. */
export async function measureHooks(
  postgres: BenchPostgres,
  options: { isQuick: boolean; rounds: number },
): Promise<Figure[]> {
  const data = await hookData(postgres);
  const bench = await startHookBench(postgres, data);
  const figures: Figure[] = [];
  try {
    const count = options.isQuick ? 3000 : 10_000;
    const participants = { participants: true };
    for (const stream of [
      { type: "upload_updated", scope: "workspace", goal: { least: 0.4 } },
      { type: "recording_updated", scope: "workspace", goal: { least: 0.4 } },
      // Who may hear of it is looked up for each, and what is included is rendered for each: a loop does neither.
      { type: "recording_updated", scope: "personal", include: participants, goal: {} },
      { type: "recording_updated", scope: "workspace", include: participants, goal: {} },
    ] as const)
      figures.push(...(await measureRate(bench, { ...stream, count }, options.rounds)));
    figures.push(
      ...(await measureDelay(bench, options.isQuick ? 30 : 100)),
      ...(await measureHookGrowth(bench, options)),
    );
  } finally {
    await bench.stop();
  }
  figures.push(...(await measureHookIdle(postgres, data, options.isQuick ? 15 : 60)));
  return figures;
}
