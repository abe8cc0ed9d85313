import type { BenchPostgres } from "../database.ts";
import type { Figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { measureBesideDead } from "./hooks-dead.ts";
import { measureHookIdle } from "./hooks-idle.ts";
import { measureDelay, measureRate } from "./hooks-rate.ts";
import { hookData, startHookBench } from "./hooks-setup.ts";

/** Hooks and events: how fast they go out, how soon, and beside dead receivers. */
export async function measureHooks(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const data = await hookData(postgres, sizes);
  const bench = await startHookBench(postgres, data);
  const figures: Figure[] = [];
  try {
    for (const stream of [
      { type: "upload_updated", scope: "workspace" },
      { type: "recording_updated", scope: "personal", include: { participants: true } },
    ] as const)
      figures.push(await measureRate(bench, { ...stream, count: sizes.hooks.events }, sizes.rounds));
    figures.push(
      ...(await measureDelay(bench, sizes.hooks.delays)),
      ...(await measureBesideDead(bench, sizes.hooks)),
    );
  } finally {
    await bench.stop();
  }
  figures.push(...(await measureHookIdle(postgres, data, sizes)));
  return figures;
}
