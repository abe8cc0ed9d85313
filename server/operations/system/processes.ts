import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { version } from "../../platform/version.ts";

type Role = Config["role"];

/** How often a process reports that it is alive. */
const beatMs = 15_000;

/** A process that has missed this many seconds of heartbeats counts as not responding. */
const silentAfterSec = 60;

/** How long a process that ended without a word is listed. */
const keptFor = "1 day";

/** Processes not responding that are kept at most, since one that fails at every start adds a row each time. */
const maxSilent = 50;

/** A process reports itself until it is stopped. */
interface Heartbeat {
  /** Reports the process now, because something about it has changed. */
  report(): Promise<void>;
  /** Stops reporting and removes the process from the list. */
  stop(): Promise<void>;
}

/**
 * Reports this process in `processes`, now and every 15 s. A failure is not reported to anyone: the next heartbeat repairs
 * it, and a database that is unreachable is noticed elsewhere.
 * @param isAlone whether no other process can use this database, so that the others listed have ended.
 * @param watchedFolders the folders whose files this process imports.
 * @param secretIds the ids of its secrets, that which encrypts first.
 */
export async function startHeartbeat(
  { pool }: Pick<Database, "pool">,
  {
    role,
    isAlone,
    watchedFolders = () => [],
    secretIds = () => [],
    log,
  }: {
    readonly role: Role;
    readonly isAlone: boolean;
    readonly watchedFolders?: () => readonly string[];
    readonly secretIds?: () => readonly string[];
    readonly log: FastifyBaseLogger;
  },
): Promise<Heartbeat> {
  const id = randomUUID();
  const startedAt = new Date();
  let current = Promise.resolve();

  async function beat(): Promise<void> {
    await pool.query({
      name: "process_heartbeat",
      text: `insert into processes (id, role, host, pid, version, started_at, heartbeat_at, watched_folders, secret_ids)
        values ($1, $2, $3, $4, $5, $6, now(), $7, $8)
        on conflict (id) do update set heartbeat_at = excluded.heartbeat_at,
          watched_folders = excluded.watched_folders, secret_ids = excluded.secret_ids`,
      values: [id, role, hostname(), process.pid, version, startedAt, watchedFolders(), secretIds()],
    });
  }
  const report = (work: () => Promise<unknown>): Promise<void> =>
    work().then(
      () => {},
      (error: Error) => log.debug({ err: error }, "the heartbeat of this process could not be written"),
    );

  await report(async () => {
    await pool.query(
      `delete from processes where $1 or heartbeat_at < now() - interval '${keptFor}' or id in (
         select id from processes where heartbeat_at < now() - interval '${silentAfterSec} seconds'
         order by heartbeat_at desc offset ${maxSilent})`,
      [isAlone],
    );
    await beat();
  });
  const timer = setInterval(() => {
    current = report(beat);
  }, beatMs);
  timer.unref();
  return {
    report: () => report(beat),
    async stop() {
      clearInterval(timer);
      // A heartbeat that is still being written would add the row again.
      await current;
      await report(() => pool.query("delete from processes where id = $1", [id]));
    },
  };
}

/** A process of the installation. */
export interface ProcessRow {
  readonly id: string;
  readonly role: Role;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly started_at: Date;
  readonly heartbeat_at: Date;
  /** The folders whose files it imports, as PARLEY_WATCH_DIRS names them. */
  readonly watched_folders: readonly string[];
  /** The ids of its secrets, that which encrypts first; null: its version can't rotate. */
  readonly secret_ids: readonly string[] | null;
  /** False: it has sent no heartbeat for a minute. */
  readonly is_responding: boolean;
}

/** Processes listed at most. */
const maxListed = 500;

/** The processes of the installation, those that respond first. */
export async function findProcesses({ pool }: Pick<Database, "pool">): Promise<ProcessRow[]> {
  const { rows } = await pool.query<ProcessRow>(
    `select *, heartbeat_at >= now() - interval '${silentAfterSec} seconds' as is_responding
     from processes where heartbeat_at >= now() - interval '${keptFor}'
     order by is_responding desc, started_at, id limit ${maxListed}`,
  );
  return rows;
}
