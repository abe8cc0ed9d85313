import { readdirSync, readFileSync } from "node:fs";

/**
 * Milliseconds of processor time of a process and of the programs it ran and waited for.
 * @param pid default: this process.
 */
export function processorMs(pid: number | "self" = "self"): number {
  if (process.platform !== "linux") return pid === "self" ? process.cpuUsage().user / 1000 : 0;
  return msOf(statOf(pid));
}

/** In hundredths of a second: utime, stime, cutime and cstime. */
function msOf(stat: readonly string[]): number {
  return stat.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** What browsers took whose processes have ended without anyone waiting for them. */
let unseenMs = 0;

/** Milliseconds of processor time of the browsers that this process has started, besides those in `processorMs()`. */
export function browserMs(): number {
  return unseenMs + runningBrowserMs();
}

/** Closes a browser. Its processes are killed, and only the first of them is waited for: the others are counted here. */
export async function closeBrowser(close: () => Promise<void>): Promise<void> {
  const before = runningBrowserMs() + processorMs();
  await close();
  unseenMs += Math.max(0, before - runningBrowserMs() - processorMs());
}

/** Of all processes in groups whose first process is our child: a browser leads a group of its own. */
function runningBrowserMs(): number {
  if (process.platform !== "linux") return 0;
  const all = new Map<string, string[]>();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    try {
      all.set(pid, statOf(Number(pid)));
    } catch {
      // It has ended.
    }
  // Of the fields, the second is the parent and the third the group.
  return [...all.values()]
    .filter(
      ([, , group = ""]) => group !== String(process.pid) && all.get(group)?.[1] === String(process.pid),
    )
    .reduce((sum, stat) => sum + msOf(stat), 0);
}

/** The process that started a process. */
export function parentOf(pid: number): number {
  return process.platform === "linux" ? Number(statOf(pid)[1]) : 0;
}

/** proc(5): the fields from the third on, after the name in parentheses. */
function statOf(pid: number | "self"): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}
