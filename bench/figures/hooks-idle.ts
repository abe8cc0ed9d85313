import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import type { Dataset } from "../datasets.ts";
import { type Figure, figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { hookServer } from "./hooks-setup.ts";

/** Clock ticks a second in /proc: 100 on every Linux there is (proc(5), sysconf(_SC_CLK_TCK)). */
const ticksPerSec = 100;

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
      const before = [ticksOf(server.pid), await databaseTicks(data)] as const;
      await delay(seconds * 1000);
      const after = [ticksOf(server.pid), await databaseTicks(data)] as const;
      const share = (n: 0 | 1): number => ((after[n] - before[n]) * 100) / ticksPerSec / seconds;
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

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended. */
  readonly children: number;
}

/** proc(5): after the name in brackets come state, ppid, … and as 14th to 17th of all utime, stime, cutime, cstime. */
function timesOf(pid: number | string): ProcessTimes {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (field: number): number => Number(fields[field - 3]);
  return { parent: at(4), own: at(14) + at(15), children: at(16) + at(17) };
}

/** @throws Error when the server has ended. */
function ticksOf(pid: number): number {
  try {
    return timesOf(pid).own;
  } catch (error) {
    throw new Error("the server ended although nothing was asked of it", { cause: error });
  }
}

/** Of PostgreSQL with all its processes, those that have ended too. */
async function databaseTicks({ db }: BenchDatabase<Dataset>): Promise<number> {
  const { rows } = await db.pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const root = timesOf(rows[0]?.pid ?? 0).parent;
  const { own, children } = timesOf(root);
  let ticks = own + children;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const times = timesOf(pid);
      if (times.parent === root) ticks += times.own;
    } catch {
      // It has ended since the folder was read.
    }
  }
  return ticks;
}
