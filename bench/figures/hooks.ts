import type { BenchPostgres } from "../database.ts";
import type { Figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { measureHookGrowth } from "./hooks-growth.ts";
import { measureHookIdle } from "./hooks-idle.ts";
import { measureDelay, measureRate } from "./hooks-rate.ts";
import { hookData, startHookBench } from "./hooks-setup.ts";

/** Hooks and events: how fast they go out, how soon, and how that grows. */
export async function measureHooks(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const data = await hookData(postgres, sizes);
  const bench = await startHookBench(postgres, data);
  const figures: Figure[] = [];
  try {
    const participants = { participants: true };
    for (const stream of [
      { type: "upload_updated", scope: "workspace", goal: { min: 0.25 } },
      { type: "recording_updated", scope: "workspace", goal: { min: 0.25 } },
      // Who may hear of it is looked up for each, and what is included is rendered for each: a loop does neither.
      { type: "recording_updated", scope: "personal", include: participants, goal: {} },
      { type: "recording_updated", scope: "workspace", include: participants, goal: {} },
    ] as const)
      figures.push(...(await measureRate(bench, { ...stream, count: sizes.hooks.events }, sizes.rounds)));
    figures.push(
      ...(await measureDelay(bench, sizes.hooks.delays)),
      ...(await measureHookGrowth(bench, sizes)),
    );
  } finally {
    await bench.stop();
  }
  figures.push(...(await measureHookIdle(postgres, data, sizes)));
  return figures;
}
