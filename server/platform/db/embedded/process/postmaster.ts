import { realpath, unlink } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Binaries } from "../binaries/binaries.ts";
import { EmbeddedDatabaseError } from "../errors.ts";
import { readIfExists } from "../files.ts";
import { transferCluster } from "../initdb.ts";
import { assertMode } from "../location.ts";
import { makeSocketFolder, socketFolderInside, socketPath } from "../socket-folder.ts";
import type { SystemUser } from "../system-user.ts";
import type { Context, Location } from "../types.ts";
import { type Launched, lastWords, launch } from "./launch.ts";
import { endOrphans } from "./orphans.ts";
import { type PidFile, parsePidFile, pidFilePath, readPidFile } from "./pid-file.ts";
import { probe } from "./probe.ts";
import { isPostmaster, processExists } from "./process-facts.ts";
import { shutDown } from "./shutdown.ts";

export interface Reached {
  readonly client: pg.Client;
  readonly pid: number;
  readonly socketDir: string;
  /** False when somebody else had started it. */
  readonly launched: boolean;
  /** To whom the cluster belonged until now; undefined: to the same user. */
  readonly previousOwner: SystemUser | undefined;
}

const POLL_MS = 20;
/** After the first second: every attempt while PostgreSQL recovers is a line in its log. */
const SLOW_POLL_MS = 250;
const TELL_AFTER_MS = 1000;
const TELL_EVERY_MS = 10_000;
/** While PostgreSQL says that it replays its log after a crash, stopping it would only restart that. */
const RECOVERY_FACTOR = 10;
/**
 * Ends that pass by themselves: processes of a killed postmaster still hold its memory, or another postmaster
 * is just leaving.
 */
const PASSING = /pre-existing shared memory block|lock file ".*" already exists|is another postmaster/;

/**
 * Connects to the cluster's postmaster. One that runs is adopted, one that starts, recovers or shuts down is
 * waited for, and if there is none it is started. Call it under the start lock.
 */
export async function reachPostmaster(
  context: Context,
  location: Location,
  binaries: Binaries,
  password: string,
): Promise<Reached> {
  const { clusterDir } = location;
  let child: { process: Launched; socketDir: string; startedAt: number } | undefined;
  let previousOwner: SystemUser | undefined;
  const patience = waiting(context);
  try {
    for (;;) {
      context.signal.throwIfAborted();
      const file = await readPidFile(clusterDir);
      const seen = await probeAll(child?.socketDir, file, location, password);
      if (seen.kind === "connected") return { ...seen, launched: child !== undefined, previousOwner };

      const ended = child?.process.ended();
      if (child && ended) {
        const words = (await lastWords(clusterDir, child.startedAt)) ?? ended;
        await allowRestart(context, clusterDir, words);
        child = undefined;
        patience.check(words, false);
        await sleep(10 * POLL_MS, undefined, { signal: context.signal });
        continue;
      }
      if (seen.kind === "absent" && !child && !(file && (await isPostmaster(file.pid, clusterDir)))) {
        await assertMode(clusterDir, "start");
        const socketDir = await makeSocketFolder(location);
        await removeStaleLockFiles(context, clusterDir, socketDir);
        previousOwner ??= await transferCluster(location);
        child = {
          socketDir,
          startedAt: Date.now(),
          process: await launch(location, binaries, socketDir, context.tuning.settings),
        };
      }
      const reason = seen.kind === "busy" ? seen.reason : "it does not listen yet";
      patience.check(reason, seen.kind === "busy" && seen.progressing, file?.pid);
      await sleep(patience.pauseMs(), undefined, { signal: context.signal });
    }
  } catch (error) {
    // Nobody can have taken hold of it, as that needs the start lock: leave nothing behind.
    if (child?.process.pid && !child.process.ended()) await shutDown(context, child.process.pid, clusterDir);
    if (previousOwner) await transferCluster({ clusterDir, user: previousOwner });
    throw error;
  }
}

/**
 * Prepares another start after one that ended.
 * @param words why it ended.
 * @throws Error where another start would end the same way.
 */
async function allowRestart(context: Context, clusterDir: string, words: string): Promise<void> {
  if (!PASSING.test(words))
    throw new EmbeddedDatabaseError(`PostgreSQL did not start: ${words} (logs: ${clusterDir}/log)`);
  if (!/shared memory/.test(words)) return;
  const pids = await endOrphans(clusterDir);
  if (pids.length) context.log("warn", "ended what a killed PostgreSQL left running", { pids });
}

/**
 * Looks wherever the socket may be: at its usual place even if the process number in postmaster.pid is dead
 * (it may count in another container), and where a running postmaster says it is.
 */
async function probeAll(
  launchedAt: string | undefined,
  file: PidFile | undefined,
  location: Location,
  password: string,
) {
  const named = file && (await isOurs(file, location)) ? file.socketDir : undefined;
  const candidates = launchedAt ? [launchedAt] : [socketFolderInside(location), named];
  let busy: Awaited<ReturnType<typeof probe>> = { kind: "absent" };
  for (const socketDir of new Set(candidates)) {
    if (!socketDir) continue;
    const seen = await probe(socketDir, location.clusterDir, password);
    if (seen.kind === "connected") return { ...seen, socketDir };
    if (seen.kind === "busy") busy = seen;
  }
  return busy as Exclude<typeof busy, { kind: "connected" }>;
}

/**
 * Whether postmaster.pid speaks of this cluster. In a copy of a data folder it names the process and the socket of the
 * original, which must not be touched; in a renamed folder it names the old path, and the process is the proof.
 */
async function isOurs(file: PidFile, { clusterDir }: Location): Promise<boolean> {
  const named = await realpath(file.dataDir).catch(() => undefined);
  return named === clusterDir || (await isPostmaster(file.pid, clusterDir));
}

/**
 * PostgreSQL itself handles a lock file whose process is gone, with its memory segment. It fails only when
 * the number now belongs to another program of the same user (after a reboot, say) or to a zombie; then we
 * remove the file. No postmaster of this cluster runs, and the socket's folder belongs to this cluster alone.
 */
async function removeStaleLockFiles(context: Context, clusterDir: string, socketDir: string): Promise<void> {
  for (const path of [pidFilePath(clusterDir), `${socketPath(socketDir)}.lock`]) {
    const pid = parsePidFile((await readIfExists(path)) ?? "")?.pid;
    if (!pid || !processExists(pid)) continue;
    context.log("warn", "a lock file of PostgreSQL names another program: removed", { path, pid });
    await unlink(path);
  }
}

/** Counts the time, tells the log what is waited for, and loses patience. */
function waiting(context: Context) {
  const started = Date.now();
  let nextWord = started + TELL_AFTER_MS;
  return {
    pauseMs: () => (Date.now() - started < TELL_AFTER_MS ? POLL_MS : SLOW_POLL_MS),
    check(reason: string, progressing: boolean, pid?: number): void {
      const now = Date.now();
      const limit = context.tuning.readyTimeoutMs * (progressing ? RECOVERY_FACTOR : 1);
      if (now - started > limit) {
        throw new EmbeddedDatabaseError(
          `PostgreSQL${pid ? ` (process ${pid})` : ""} was not ready after ${Math.round(limit / 1000)} s: ${reason}`,
        );
      }
      if (now < nextWord) return;
      nextWord = now + TELL_EVERY_MS;
      context.log("info", "waiting for PostgreSQL", { reason, ...(pid && { pid }) });
    },
  };
}
