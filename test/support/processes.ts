import { readdirSync, readFileSync } from "node:fs";

/** A process of the system. */
interface Process {
  readonly pid: number;
  readonly group: number;
  /** Its program and arguments. */
  readonly command: string;
}

function listProcesses(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
        // Source: proc(5); the name, in parentheses, may contain spaces.
        const [, , group] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
        return [{ pid: Number(name), group: Number(group), command }];
      } catch {
        // It has ended.
        return [];
      }
    });
}

/** The processes of the group whose first process has an argument. */
function groupWith(argument: string): Process[] {
  const all = listProcesses();
  const first = all.find(({ pid, group, command }) => pid === group && command.includes(argument));
  return all.filter(({ group }) => group === first?.group);
}

/** Kills a group of processes at once, found by an argument of its first one. */
export function killGroup(argument: string): void {
  const [one] = groupWith(argument);
  if (one === undefined) throw new Error(`no process group has the argument ${argument}`);
  process.kill(-one.group, "SIGKILL");
}

/**
 * The memory of the group's largest process of a kind, in bytes: what it has written, and its share of what it has written
 * together with others. The program itself, which it shares with other browsers, doesn't count.
 * @param kind an argument of the process.
 */
export function memoryOf(argument: string, kind: string): number {
  const sizes = groupWith(argument)
    .filter(({ command }) => command.includes(kind))
    .map(({ pid }) => {
      const found = /^Pss_Dirty:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
      return 1024 * Number(found?.[1]);
    });
  if (sizes.length === 0) throw new Error(`no process of ${argument} has the argument ${kind}`);
  return Math.max(...sizes);
}
