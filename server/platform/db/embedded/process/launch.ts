import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Binaries, POSTGRES_ENVIRONMENT } from "../binaries/binaries.ts";
import { postgresArguments } from "../settings.ts";
import type { Location, Tuning } from "../types.ts";

/** A postmaster that we started. */
export interface Launched {
  readonly pid: number | undefined;
  /** How it ended, such as "exit code 1"; undefined while it runs. */
  ended(): string | undefined;
}

const START_LOG = "start.log";

/**
 * Starts `postgres` itself, in a process group of its own (Ctrl-C in our terminal must not reach it) and with
 * its output in a file (a pipe would break when we die). Before PostgreSQL's own log collector runs, the output
 * goes to log/start.log.
 */
export async function launch(
  location: Location,
  binaries: Binaries,
  socketDir: string,
  settings: Tuning["settings"],
): Promise<Launched> {
  const { clusterDir, user } = location;
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  // NOFOLLOW: the folder belongs to the database's user, and we may be root.
  const output = await open(
    join(clusterDir, "log", START_LOG),
    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
    0o600,
  );
  let ended: string | undefined;
  try {
    // A cluster of an ordinary user that root started once must start for that user as well.
    if (user) await output.chown(user.uid, user.gid);
    const child = spawn(binaries.postgres, postgresArguments(clusterDir, socketDir, settings), {
      ...user,
      cwd: "/",
      env: POSTGRES_ENVIRONMENT,
      detached: true,
      stdio: ["ignore", output.fd, output.fd],
    });
    child.once("error", (error) => {
      ended = error.message;
    });
    child.once("exit", (code, signal) => {
      ended = signal ? `signal ${signal}` : `exit code ${code}`;
    });
    child.unref();
    return { pid: child.pid, ended: () => ended };
  } finally {
    await output.close();
  }
}

/**
 * The reason PostgreSQL gave for ending, from start.log or, once its collector ran, from the day's log (where our
 * own attempts to connect leave lines that are no reason).
 */
export async function lastWords(clusterDir: string, since: number): Promise<string | undefined> {
  const folder = join(clusterDir, "log");
  const others = (await readdir(folder).catch(() => [])).filter((name) => name !== START_LOG);
  for (const name of [START_LOG, ...others]) {
    const path = join(folder, name);
    const changedAt = await stat(path)
      .then((file) => file.mtimeMs)
      .catch(() => 0);
    // A second of leeway for file systems with coarse times.
    if (changedAt < since - 1000) continue;
    const lines = (await readFile(path, "utf8").catch(() => "")).split("\n");
    const last = lines.findLast((line) => /(FATAL|PANIC): /.test(line) && !NO_REASON.test(line));
    if (last) return last.slice(last.search(/FATAL|PANIC/));
  }
  return undefined;
}

const NO_REASON = /FATAL: +(the database system is|terminating connection)/;
