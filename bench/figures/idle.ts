import { setTimeout as delay } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { databaseMs, processMs } from "../processor-time.ts";
import { type Figure, figure } from "../report.ts";

/** What a server costs that has nothing to do, and PostgreSQL with it. */
export async function measureIdle({ main, sizes }: Bench): Promise<Figure[]> {
  if (process.platform !== "linux") return [];
  const { server, data } = await main();
  const measure = async (): Promise<readonly [number, number]> => [
    processMs(server.pid),
    await databaseMs(data.db.pool),
  ];
  await delay(sizes.settleMs);
  const before = await measure();
  await delay(sizes.idleMs);
  const after = await measure();
  const share = (n: 0 | 1): number => ((after[n] - before[n]) / sizes.idleMs) * 100;
  const total = share(0) + share(1);
  const residentMb = server.residentMb();
  return [
    figure(
      "idle: server with background work and PostgreSQL, of a core",
      total,
      `${total.toFixed(2)} %: ${share(0).toFixed(2)} % and PostgreSQL ${share(1).toFixed(2)} %`,
      " %",
      { max: 0.8 },
    ),
    figure("idle: memory of the server", residentMb, `${residentMb?.toFixed(0)} MB`, " MB", { max: 150 }),
  ];
}
