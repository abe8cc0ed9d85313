import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { DataFolderInUseError } from "../errors.ts";
import type { Context, Location } from "../types.ts";
import { readPidFile } from "./pid-file.ts";
import { isRunning } from "./process-facts.ts";

/**
 * Who uses a cluster is written in PostgreSQL's session-level advisory locks, because PostgreSQL itself lets
 * go of them when their holder dies:
 *
 * - `SERVER`, exclusive: the one server of the data folder.
 * - `HOLDERS`, shared by everyone (server and tools): the process that gets it exclusively is the last one.
 *
 * The first number is "parl" in ASCII, to stay clear of locks of the application.
 */
const SPACE = 0x7061726c;
const HOLDERS = 1;
const SERVER = 2;

/** PostgreSQL notices within milliseconds that a killed server's connection is closed; a loaded machine later. */
const DEAD_HOLDER_GRACE_MS = 5000;
const LIVE_HOLDER_GRACE_MS = 300;
const POLL_MS = 50;

/** Our place among the users of the cluster, for as long as its connection lives. */
export interface Hold {
  readonly client: pg.Client;
  readonly pid: number;
  /** Resolves when the connection is gone: PostgreSQL ended or was killed, or it restarts after a crash. */
  readonly lost: Promise<void>;
}

/**
 * Takes the locks on a fresh connection. Returns undefined when this postmaster is being stopped, so that the
 * whole start has to begin again.
 *
 * @throws DataFolderInUseError when another server has the folder
 */
export async function takeHold(
  context: Context,
  location: Location,
  client: pg.Client,
  pid: number,
): Promise<Hold | undefined> {
  let isLost = false;
  const lost = new Promise<void>((resolve) => {
    client.once("end", () => {
      isLost = true;
      resolve();
    });
  });
  try {
    await client.query("set idle_session_timeout = 0; set statement_timeout = 0; set lock_timeout = '60s'");
    await client.query("select pg_advisory_lock_shared($1, $2)", [SPACE, HOLDERS]);
    if (context.purpose === "server" && !(await takeServerLock(context, client))) {
      throw new DataFolderInUseError(location.dataDir, pid);
    }
  } catch (error) {
    // A postmaster going down, or killed, ends our session: that is no failure of this start.
    const over = isLost || (await isOver(location, pid));
    await client.end().catch(() => undefined);
    if (over && !(error instanceof DataFolderInUseError)) return undefined;
    throw error;
  }
  // "stopping" is written before sessions are ended, so a process that waited for the lock sees it here.
  if (!(await isOver(location, pid))) return { client, pid, lost };
  await client.end().catch(() => undefined);
  return undefined;
}

async function takeServerLock(context: Context, client: pg.Client): Promise<boolean> {
  const started = Date.now();
  for (;;) {
    const { rows } = await client.query<{ got: boolean; holder: string | null }>(
      `select pg_try_advisory_lock($1, $2) as got,
         (select application_name from pg_locks join pg_stat_activity using (pid)
           where locktype = 'advisory' and classid = $1::oid and objid = $2::oid and granted limit 1) as holder`,
      [SPACE, SERVER],
    );
    if (rows[0]?.got) return true;
    // Bounded: an application_name of PostgreSQL.
    const holder = Number(/\d+$/.exec(rows[0]?.holder ?? "")?.[0] ?? 0);
    const grace = holder && (await isRunning(holder)) ? LIVE_HOLDER_GRACE_MS : DEAD_HOLDER_GRACE_MS;
    if (Date.now() - started > grace) return false;
    await sleep(POLL_MS, undefined, { signal: context.signal });
  }
}

async function isOver(location: Location, pid: number): Promise<boolean> {
  const file = await readPidFile(location.clusterDir);
  return file?.pid !== pid || file.status === "stopping";
}

/** Releases our locks. @returns whether no other process uses the cluster; then none can start to, either. */
export async function becomeLast(client: pg.Client): Promise<boolean> {
  await client.query("select pg_advisory_unlock_all()");
  // A few tries, as a tool that was just killed may not have been noticed yet.
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const { rows } = await client.query<{ got: boolean }>("select pg_try_advisory_lock($1, $2) as got", [
      SPACE,
      HOLDERS,
    ]);
    if (rows[0]?.got) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** Creates the application's database unless it exists. */
export async function ensureDatabase(client: pg.Client, name: string, owner: string): Promise<void> {
  const { rowCount } = await client.query("select from pg_database where datname = $1", [name]);
  if (rowCount === 0)
    await client.query(
      `create database ${client.escapeIdentifier(name)} owner ${client.escapeIdentifier(owner)}`,
    );
}
