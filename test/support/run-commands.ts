import { setTimeout as delay } from "node:timers/promises";
import { run } from "../../cli/program.ts";
import type { CommandRequest } from "./command-process.ts";

/**
 * Runs parley commands for command-process.ts, one at a time, and marks the end of what each printed. A command that leaves
 * something open, which would keep a process of its own alive, ends this process.
 */
const countByType = (): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
};
/** For as long as a command may need to close what it used. */
const graceMs = 10_000;

/** What a command left open, beside what was open before. */
function leftOpen(before: ReadonlyMap<string, number>): string[] {
  return [...countByType()].filter(([type, count]) => count > (before.get(type) ?? 0)).map(([type]) => type);
}

/** Does what a command does when its process ends, such as writing the last lines of its log. */
function endCommand(): void {
  process.emit("exit", Number(process.exitCode ?? 0));
  for (const event of ["exit", "SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(event);
}

// Opened here, because they are opened when they are first used.
const streams = [process.stdout, process.stderr];
process.on("disconnect", () => process.exit());
process.on("message", async ({ args, env }: CommandRequest) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.exitCode = undefined;
  const before = countByType();
  await run([process.execPath, "parley", ...args]);
  const deadline = performance.now() + graceMs;
  while (leftOpen(before).length > 0 && performance.now() < deadline) await delay(2);
  if (leftOpen(before).length > 0) {
    process.stderr.write(`parley ${args.join(" ")} left open: ${leftOpen(before).join(", ")}\n`);
    process.kill(process.pid, "SIGKILL");
  }
  for (const stream of streams) stream.removeAllListeners("error");
  endCommand();
  process.stdout.write(`\0${process.exitCode ?? 0}\0`);
  process.stderr.write("\0");
});
