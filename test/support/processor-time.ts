import { readFileSync } from "node:fs";

/**
 * Milliseconds of processor time of a process and of the programs it ran and waited for.
 * @param pid default: this process.
 */
export function processorMs(pid: number | "self" = "self"): number {
  if (process.platform !== "linux") return pid === "self" ? process.cpuUsage().user / 1000 : 0;
  // In hundredths of a second: utime, stime, cutime and cstime.
  return statOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
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
