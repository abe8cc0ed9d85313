import { setTimeout as delay } from "node:timers/promises";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import type { Dataset } from "../datasets.ts";
import { databaseMs, processMs } from "../processor-time.ts";
import { type Figure, figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { hookServer } from "./hooks-setup.ts";

/** What a server costs that has nothing to do, with and without background work, and PostgreSQL with it. */
export async function measureHookIdle(
  postgres: BenchPostgres,
  data: BenchDatabase<Dataset>,
  sizes: Sizes,
): Promise<Figure[]> {
  if (process.platform !== "linux") return [];
  const seconds = sizes.hooks.idleSec;
  const shares = { api: { server: 0, database: 0 }, all: { server: 0, database: 0 } };
  let residentMb: number | null = null;
  for (const role of ["api", "all"] as const) {
    const server = await hookServer(postgres, data, role);
    try {
      await delay(sizes.idleMs);
      const before = [processMs(server.pid), await databaseMs(data.db.pool)] as const;
      await delay(seconds * 1000);
      const after = [processMs(server.pid), await databaseMs(data.db.pool)] as const;
      const share = (n: 0 | 1): number => (after[n] - before[n]) / 10 / seconds;
      shares[role] = { server: share(0), database: share(1) };
      if (role === "all") residentMb = server.residentMb();
    } finally {
      await server.stop();
    }
  }
  const { api, all } = shares;
  const describe = (of: { server: number; database: number }): string =>
    `${of.server.toFixed(2)} % and PostgreSQL ${of.database.toFixed(2)} %`;
  const total = all.server + all.database;
  return [
    figure(
      "idle: server with background work and PostgreSQL, of a core",
      total,
      `${total.toFixed(2)} %: ${describe(all)}; ${describe(api)} without background work`,
      " %",
      { max: 2 },
    ),
    figure("idle: memory of the server", residentMb, `${residentMb?.toFixed(0)} MB`, " MB", {}),
  ];
}
