import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeBrowser } from "../processor-time.ts";

/** No program runs longer, even if the test process is killed before it can end it. */
const maxSeconds = 300;
/** How long a browser may take to start, or to carry out one command. */
const commandTimeoutMs = 60_000;

/** A program that runs in its own process group. */
export interface Program {
  /** Waits for a line of output. @throws Error with the output if the program ends or prints nothing of the kind. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Everything printed so far. */
  output(): string;
  /** Kills the program and everything it has started. */
  stop(): Promise<void>;
}

/** Starts a program with its own home folder. `timeout` leads the process group and ends it in any case. */
export function startProgram(
  name: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Program {
  const child = spawn("timeout", ["--signal=KILL", String(maxSeconds), name, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, ...environment },
    detached: true,
  });
  let output = "";
  let notify = (): void => undefined;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      notify();
    });
  const ended = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      output += error.message;
      resolve();
    });
    child.on("exit", () => resolve());
  });
  return {
    line(pattern) {
      const found = new Promise<RegExpExecArray>((resolve, reject) => {
        notify = () => {
          const match = pattern.exec(output);
          if (match !== null) resolve(match);
        };
        notify();
        void ended.then(() => reject(new Error(`${name} ended: ${output}`)));
      });
      return within(`${name} prints ${pattern}`, found);
    },
    output: () => output,
    stop: () =>
      closeBrowser(async () => {
        try {
          if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
        } catch {
          // It has ended.
        }
        await ended;
      }),
  };
}

/** An empty home folder for a browser, with the environment variables that make programs use it. */
export function makeHome(): { folder: string; environment: Record<string, string>; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "parley-home-"));
  mkdirSync(join(folder, "runtime"), { mode: 0o700 });
  return {
    folder,
    environment: { HOME: folder, XDG_RUNTIME_DIR: join(folder, "runtime"), LANG: "C.UTF-8", TZ: "UTC" },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Fails if a command takes too long, as with a browser that hangs. */
export async function within<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out waiting for: ${what}`)), commandTimeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
