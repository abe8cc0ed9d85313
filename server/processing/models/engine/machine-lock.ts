import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

/** The same for all processes of this machine. */
const machineKey = createHash("sha256")
  .update(`parley speech ${hostname()}`)
  .digest()
  .readBigInt64BE()
  .toString();

/** How often to check whether the engine has become free. */
const checkMs = 1000;

/** Before the kind of engine in the name of the lock's session. */
const sessionName = "parley engine: ";

/**
 * Waits until no other process on this machine uses an engine: a model takes gigabytes of memory and several cores. The lock
 * belongs to a database session, so that it ends with its process.
 * @param session of the database that the machine's processes share.
 * @param kind such as "speech", which other processes wait for.
 * @param onWait called once it has to wait, with the kind of engine that is at work.
 * @returns a function that releases it.
 */
export async function takeMachine(
  session: pg.ClientConfig,
  kind: string,
  signal: AbortSignal | undefined,
  onWait?: (kind: string) => void,
): Promise<() => Promise<void>> {
  signal?.throwIfAborted();
  const client = new pg.Client({ ...session, application_name: `${sessionName}${kind}` });
  let isFirst = true;
  // With its connection the lock is lost, but not the work.
  client.on("error", () => {});
  const release = async (): Promise<void> => {
    await client.end().catch(() => {});
  };
  try {
    await client.connect();
    for (;;) {
      const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
        machineKey,
      ]);
      if (rows[0]?.taken) return release;
      if (isFirst && onWait !== undefined) onWait(await findHolder(client));
      isFirst = false;
      await delay(checkMs, undefined, signal === undefined ? {} : { signal });
    }
  } catch (error) {
    await release();
    throw error;
  }
}

/** The kind of engine that holds the machine. */
async function findHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and (l.classid::bigint << 32) | l.objid::bigint = $1::bigint`,
    [machineKey],
  );
  const name = rows[0]?.name ?? "";
  return name.startsWith(sessionName) ? name.slice(sessionName.length) : "other";
}

/** Whether a process on this machine uses an engine now. */
export async function isMachineTaken(session: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client(session);
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ is_free: boolean }>("select pg_try_advisory_lock($1) as is_free", [
      machineKey,
    ]);
    return rows[0]?.is_free !== true;
  } finally {
    await client.end().catch(() => {});
  }
}
