import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createTestDatabase } from "./database.ts";
import { freePort } from "./port.ts";
import { until } from "./until.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** A real server in a process of its own, as an operator runs it. */
export interface ServerProcess {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** Everything it wrote so far. */
  output(): { stdout: string; stderr: string };
  /** Starts it (again) and waits until it is ready. */
  start(): Promise<void>;
  /** Ends it the hard way, at once. */
  kill(): Promise<void>;
  /** Asks it to stop and waits; gives its exit code. */
  stop(): Promise<number | null>;
  readonly isRunning: boolean;
  /** Stops it and removes its folder and database. */
  dispose(): Promise<void>;
}

/**
 * Prepares a server on a database of its own; `start()` runs it.
 * @param options.shared another server whose database and folder it shares.
 */
export async function prepareServer(
  options: { env?: Record<string, string>; shared?: ServerProcess } = {},
): Promise<ServerProcess> {
  const port = await freePort();
  const database = options.shared ? null : await createTestDatabase("template1");
  const folder = options.shared?.env.PARLEY_DATA_DIR ?? mkdtempSync(join(tmpdir(), "parley-server-"));
  const env: Record<string, string> = {
    PARLEY_PORT: String(port),
    PARLEY_DATA_DIR: folder,
    PARLEY_DATABASE_URL: database?.url ?? options.shared?.env.PARLEY_DATABASE_URL ?? "",
    PARLEY_RATE_LIMIT_PER_MINUTE: "0",
    ...options.env,
  };
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | null = null;
  let exited: Promise<number | null> = Promise.resolve(null);
  let stdout = "";
  let stderr = "";

  const self: ServerProcess = {
    url,
    env,
    output: () => ({ stdout, stderr }),
    get isRunning() {
      return child !== null;
    },
    async start() {
      const started = spawn(process.execPath, [main, "serve"], {
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      // What an earlier one of this server wrote says nothing about this one.
      const before = stderr.length;
      started.stdout.on("data", (chunk) => {
        stdout += chunk;
      });
      started.stderr.on("data", (chunk) => {
        stderr += chunk;
      });
      exited = new Promise((resolve) => {
        started.once("exit", (code) => {
          child = null;
          resolve(code);
        });
      });
      await until(`the server at ${url} is ready`, async () => {
        if (child !== started)
          throw new Error(`the server ended while starting:\n${stderr.slice(before).slice(-2000)}`);
        return env.PARLEY_ROLE === "worker"
          ? stderr.includes('"msg":"ready"', before)
          : (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
      });
    },
    async kill() {
      child?.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child?.kill("SIGTERM");
      return exited;
    },
    async dispose() {
      await self.kill();
      await database?.drop();
      if (!options.shared) rmSync(folder, { recursive: true, force: true });
    },
  };
  return self;
}

/** Runs a command of the command line and gives what it printed on standard output, without the line end. */
export async function parley(
  server: { readonly env: Readonly<Record<string, string>> },
  ...args: string[]
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], {
    env: { ...process.env, ...server.env },
  });
  return stdout.trimEnd();
}
