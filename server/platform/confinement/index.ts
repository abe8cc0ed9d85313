import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import type { FastifyBaseLogger } from "fastify";
import { confine, type ResourceLimits } from "./command.ts";
import { type Confinement, confinedEnvironment, describeConfinement, detectConfinement } from "./detect.ts";

export type { ResourceLimits } from "./command.ts";
export { type Confinement, describeConfinement, detectConfinement } from "./detect.ts";
export { closeFolder, openFolder, outputPath, shareFile } from "./folder.ts";

/** A script to run confined. */
export interface ConfinedProgram {
  /** Absolute path of a script of the checkout. */
  readonly script: string;
  readonly args: readonly string[];
  /** Its working folder, prepared by `openFolder`: the only one it can write to. */
  readonly folder: string;
  readonly limits: ResourceLimits;
  readonly stdio: StdioOptions;
}

/**
 * Starts a program that runs native code on files from users: without the server's environment, in a process group of
 * its own, and confined as far as this machine allows (`detectConfinement`).
 */
export function spawnConfined({ method }: Confinement, program: ConfinedProgram): ChildProcess {
  const { file, args, identity } = confine(method, program.script, program.args, program.limits);
  return spawn(file, args, {
    ...identity,
    cwd: program.folder,
    env: confinedEnvironment,
    stdio: program.stdio,
    detached: true,
  });
}

/** Ends a confined program at once, with the processes it has started in its group. */
export function killConfined({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It has ended already.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Lowers the priority of a confined program, so that the API stays responsive. */
export function lowerPriority(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already, or the system does not allow it; then it runs at normal priority.
  }
}

/** Logs the confinement in force on this machine, as a warning where it is weaker than Linux normally allows. */
export async function reportConfinement(
  log: Pick<FastifyBaseLogger, "info" | "warn" | "error">,
): Promise<void> {
  try {
    const { isWeak, line } = describeConfinement(await detectConfinement());
    log[isWeak ? "warn" : "info"](
      isWeak ? `${line}; see "Confinement" in docs/operations/internet.md` : line,
    );
  } catch (error) {
    log.error({ err: error }, "media files can't be decoded on this machine");
  }
}
