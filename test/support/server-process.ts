import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type CommandResult, runCommand } from "./command-process.ts";
import { createTestDatabase, keepTemplate, templateDatabase } from "./database.ts";
import { freePort } from "./port.ts";
import { until } from "./until.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** The environment variable that passes the folder of the built web app to the test files. */
export const webFolderVariable = "TEST_WEB_FOLDER";
const mainOf = (program: string): string => join(program, "cli", "main.ts");

/** Servers that still run when this process ends, because a test failed or took too long, are killed with it. */
const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A real server in a separate process, as an operator runs it. */
export interface ServerProcess {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** The folder of the program. */
  readonly program: string;
  /** Its output so far. */
  output(): { stdout: string; stderr: string };
  /** Starts it (again) and waits until it is ready. */
  start(): Promise<void>;
  /** Kills it. */
  kill(): Promise<void>;
  /** Stops it gracefully. @returns its exit code. */
  stop(): Promise<number | null>;
  readonly isRunning: boolean;
  /** Stops it and removes its folder and database. */
  dispose(): Promise<void>;
}

/**
 * Prepares a server with its own database; `start()` runs it.
 * @param options.shared another server to share database and folder with.
 * @param options.isEmpty starts without a schema, as a first start does, instead of with the current one.
 * @param options.hasAccount false: without the account admin@parley.local, which the first start creates.
 * @param options.program the folder of another version of the program.
 * @param options.databaseUrl the connection string of a database that the caller provides.
 */
export async function prepareServer(
  options: {
    env?: Record<string, string>;
    shared?: ServerProcess;
    isEmpty?: boolean;
    hasAccount?: boolean;
    program?: string;
    databaseUrl?: string;
  } = {},
): Promise<ServerProcess> {
  const port = options.env?.PARLEY_PORT ?? (await freePort());
  const program = options.program ?? root;
  const givenUrl = options.databaseUrl ?? options.shared?.env.PARLEY_DATABASE_URL;
  const database = givenUrl === undefined ? await createTestDatabase(await templateFor(options)) : null;
  const folder = options.shared?.env.PARLEY_DATA_DIR ?? makeDataFolder();
  const env: Record<string, string> = {
    PARLEY_PORT: String(port),
    PARLEY_DATA_DIR: folder,
    PARLEY_DATABASE_URL: database?.url ?? givenUrl ?? "",
    PARLEY_RATE_LIMIT_PER_MINUTE: "0",
    PARLEY_MODEL_MIRROR: "http://127.0.0.1:9/",
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
    program,
    output: () => ({ stdout, stderr }),
    get isRunning() {
      return child !== null;
    },
    async start() {
      // Otherwise each server would read all sources of the web app to find it.
      const webFolder = program === root ? process.env[webFolderVariable] : undefined;
      const args = webFolder === undefined ? [] : ["--web-folder", webFolder];
      const started = spawn(process.execPath, [mainOf(program), "serve", ...args], {
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      });
      child = started;
      running.add(started);
      // Ignores output of earlier runs.
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
          running.delete(started);
          resolve(code);
        });
      });
      await until(`the server at ${url} is ready`, async () => {
        if (child !== started)
          throw new Error(`the server exited while starting:\n${stderr.slice(before).slice(-2000)}`);
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

async function templateFor(options: { isEmpty?: boolean; hasAccount?: boolean }): Promise<string> {
  if (options.isEmpty) return "template1";
  return options.hasAccount === false ? templateDatabase : keepTemplate("account", createAccount);
}

/** What the first start of a server creates, but for the password, which takes as long to hash as a small command. */
async function createAccount(url: string): Promise<void> {
  const folder = makeDataFolder();
  const target = { env: { PARLEY_DATABASE_URL: url, PARLEY_DATA_DIR: folder } };
  const domain = "parley.local";
  const workspace = ["--name", "My workspace", "--email-domain", domain];
  const id = await parley(target, "workspace", "create", ...workspace);
  const user = ["--email", `admin@${domain}`, "--name", "Admin", "--role", "admin"];
  await parley(target, "user", "create", ...user, "--workspace", id);
  rmSync(folder, { recursive: true });
}

/** Enterable for other users, so that a database that verifies a backup for root is inside, not in /var/lib/parley. */
function makeDataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-server-"));
  chmodSync(folder, 0o711);
  return folder;
}

/** What runs a parley command: its environment variables, and the folder of its program. */
type CommandTarget = Pick<ServerProcess, "env"> & { readonly program?: string };

/** Runs a parley command. @returns its standard output without the trailing newline. @throws CommandError */
export async function parley(target: CommandTarget, ...args: string[]): Promise<string> {
  const result = await runParley(target, ...args);
  if (result.code !== 0) throw new CommandError(args, result);
  return result.stdout.trimEnd();
}

/** Runs a parley command that may fail. */
export async function runParley(
  { env, program = root }: CommandTarget,
  ...args: string[]
): Promise<CommandResult> {
  const request = { args, env: { ...process.env, ...env } };
  if (program === root) return runCommand(request);
  return promisify(execFile)(process.execPath, [mainOf(program), ...args], { env: request.env }).then(
    ({ stdout, stderr }) => ({ stdout, stderr, code: 0 }),
    (error: CommandResult) => error,
  );
}

/** A command that failed. */
class CommandError extends Error {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;

  constructor(args: readonly string[], { stdout, stderr, code }: CommandResult) {
    super(`parley ${args.join(" ")} ended with ${code}:\n${stderr}`);
    this.stdout = stdout;
    this.stderr = stderr;
    this.code = code;
  }
}

/** Starts a parley command and kills it when it prints a matching line. @returns whether it was killed. */
export async function killAtLine(
  server: { readonly env: Readonly<Record<string, string>> },
  args: readonly string[],
  isMoment: (line: string) => boolean,
): Promise<boolean> {
  const child = spawn(process.execPath, [mainOf(root), ...args], {
    env: { ...process.env, ...server.env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    if (output.split("\n").some(isMoment)) child.kill("SIGKILL");
  });
  const [, signal] = await once(child, "exit");
  return signal === "SIGKILL";
}
