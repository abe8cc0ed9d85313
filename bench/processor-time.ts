import { readdirSync, readFileSync } from "node:fs";
import type pg from "pg";

/** The resolution of the times in /proc: a tick, of which every Linux has 100 a second (proc(5), sysconf(_SC_CLK_TCK)). */
export const clockMs = 10;

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
  const at = (field: number): number => Number(fields[field - 3]) * clockMs;
  return { parent: Number(fields[1]), own: at(14) + at(15), children: at(16) + at(17) };
}

/** Processor time of a process, in milliseconds. @throws Error when it has ended. */
export function processMs(pid: number): number {
  try {
    return timesOf(pid).own;
  } catch (error) {
    throw new Error("the server ended although nothing was asked of it", { cause: error });
  }
}

/** Processor time of PostgreSQL with all its processes, those that have ended too, in milliseconds. */
export async function databaseMs(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const root = timesOf(rows[0]?.pid ?? 0).parent;
  const { own, children } = timesOf(root);
  let ms = own + children;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const times = timesOf(pid);
      if (times.parent === root) ms += times.own;
    } catch {
      // It has ended since the folder was read.
    }
  }
  return ms;
}
