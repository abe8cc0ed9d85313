import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../../server/db/database.ts";

const lock = "hashtextextended('parley demo', 0)";

/**
 * Does the work while no other run of the demo is at it on this database: two that send a file for the same import would
 * each take the other's away. The lock goes with its connection, so a run that was killed holds up nobody.
 */
export async function alone<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    for (;;) {
      // Asked again and again, since no statement may wait for long.
      const { rows } = await client.query<{ locked: boolean }>(
        `select pg_try_advisory_lock(${lock}) as locked`,
      );
      if (rows[0]?.locked) break;
      await wait(300);
    }
    try {
      return await work();
    } finally {
      await client.query(`select pg_advisory_unlock(${lock})`);
    }
  } finally {
    client.release();
  }
}
