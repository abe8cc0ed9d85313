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

/**
 * Waits until no other process on this machine uses the speech engine: a model takes a gigabyte of memory and several cores.
 * The lock belongs to a database session, so that it ends with its process.
 * @param session of the database that the machine's processes share.
 * @returns a function that releases it.
 */
export async function takeMachine(
  session: pg.ClientConfig,
  signal: AbortSignal | undefined,
): Promise<() => Promise<void>> {
  signal?.throwIfAborted();
  const client = new pg.Client(session);
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
      await delay(checkMs, undefined, signal === undefined ? {} : { signal });
    }
  } catch (error) {
    await release();
    throw error;
  }
}

/** Whether a process on this machine uses the speech engine now. */
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
