import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Who runs commands, instead of the tests' own user. */
export interface CommandUser {
  readonly uid: number;
  readonly gid: number;
  /** A folder of this user for compiled code. */
  readonly compiled: string;
}

/** What a process that runs commands is asked. */
export interface CommandRequest {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** How a command ended. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** A process that runs commands, one at a time, because loading a command takes longer than most of them. */
interface CommandProcess {
  readonly child: ChildProcess;
  readonly user: CommandUser | undefined;
  run(request: CommandRequest): Promise<CommandResult>;
}

const all = new Set<ChildProcess>();
/** Says which commands run, and what they have printed. */
const running = new Map<ChildProcess, () => string>();
const idle: CommandProcess[] = [];
process.on("exit", () => {
  for (const describe of running.values()) console.error(`still running: ${describe()}`);
  for (const child of all) child.kill("SIGKILL");
});
// Waited for, so that their processor time counts for the tests.
process.once("beforeExit", async () => {
  idle.length = 0;
  for (const child of all) {
    child.ref();
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  }
});

function startCommandProcess(user: CommandUser | undefined): CommandProcess {
  const file = fileURLToPath(new URL("run-commands.ts", import.meta.url));
  const child = fork(file, {
    ...(user && { uid: user.uid, gid: user.gid, env: { ...process.env, NODE_COMPILE_CACHE: user.compiled } }),
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  all.add(child);
  let current: PromiseWithResolvers<CommandResult> | null = null;
  const text = { stdout: "", stderr: "" };
  const handles = [child, child.channel, child.stdout, child.stderr];
  /** An idle process doesn't keep this one alive. */
  const keepAlive = (isBusy: boolean): void => {
    for (const handle of handles)
      if (handle !== null && handle !== undefined && "unref" in handle)
        isBusy ? handle.ref() : handle.unref();
  };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (chunk) => {
      text[name] += chunk;
      const end = /^([\s\S]*)\0(\d+)\0$/.exec(text.stdout);
      if (end === null || !text.stderr.endsWith("\0")) return;
      current?.resolve({ stdout: end[1] ?? "", stderr: text.stderr.slice(0, -1), code: Number(end[2]) });
    });
  child.once("close", (code: number | null, signal) => {
    all.delete(child);
    if (code === null) current?.reject(new Error(`a command was ended by ${signal}:\n${text.stderr}`));
    // Such as a command line that can't be parsed.
    else current?.resolve({ ...text, code });
  });
  return {
    child,
    user,
    async run(request) {
      Object.assign(text, { stdout: "", stderr: "" });
      current = Promise.withResolvers();
      keepAlive(true);
      running.set(child, () => `parley ${request.args.join(" ")}, which printed ${JSON.stringify(text)}`);
      child.send(request);
      try {
        return await current.promise;
      } finally {
        current = null;
        running.delete(child);
        keepAlive(false);
      }
    },
  };
}

/**
 * Runs a parley command with the environment variables of its own, in a process that may have run others before. It is done
 * when nothing is left that would keep its process alive.
 */
export async function runCommand(request: CommandRequest, user?: CommandUser): Promise<CommandResult> {
  const index = idle.findLastIndex((one) => one.user === user);
  const own = (index === -1 ? undefined : idle.splice(index, 1)[0]) ?? startCommandProcess(user);
  const result = await own.run(request);
  if (own.child.connected) idle.push(own);
  return result;
}
