import { execFile } from "node:child_process";
import { readFile, readlink, realpath } from "node:fs/promises";
import { promisify } from "node:util";
import { codeOf } from "../errors.ts";

/** True for any process of that number, a zombie included. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** True for a process that still runs: a zombie, or one that is being killed, has no command line any more. */
export async function isRunning(pid: number): Promise<boolean> {
  return processExists(pid) && (await commandOf(pid))[0] !== "";
}

/**
 * True when process `pid` is a living postmaster of this cluster. A number alone proves nothing: after a crash
 * another program may have it, and in a container whose first process collects no children a dead postmaster
 * stays as a zombie.
 */
export async function isPostmaster(pid: number, clusterDir: string): Promise<boolean> {
  if (!processExists(pid)) return false;
  const command = await commandOf(pid);
  // A zombie has no command line; PostgreSQL's other processes are called "postgres: …". The first word is an emulator's if
  // the program is for another processor.
  if (!command.slice(0, 2).some((word) => /(^|\/)postgres$/.test(word))) return false;
  // Where we may see it, the working folder decides: a postmaster stays in its cluster even if that is renamed.
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (folder !== undefined && folder !== "/") return folder === (await realpath(clusterDir));
  const named = command[command.indexOf("-D") + 1];
  return named === clusterDir;
}

async function commandOf(pid: number): Promise<string[]> {
  if (process.platform !== "linux") return commandByPs(pid);
  return (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
}

/** Elsewhere ps joins the arguments by spaces, so cut at the flag that we pass first. */
async function commandByPs(pid: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)("ps", ["-ww", "-o", "command=", "-p", String(pid)]).catch(
    () => ({
      stdout: "",
    }),
  );
  const parts = /^(.*?) (-D) (.*?) -c listen_addresses=/.exec(stdout.trim());
  return parts ? parts.slice(1) : [stdout.trim()];
}
