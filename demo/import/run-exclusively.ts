import { setTimeout as wait } from "node:timers/promises";
import type { Database } from "../../server/platform/db/database.ts";

const lock = "hashtextextended('parley demo', 0)";

/**
 * Runs `work` while no other demo command runs on this database: two runs that upload a file for the same import would
 * overwrite each other's. The advisory lock ends with its connection, so a killed run blocks no later one.
 */
export async function runExclusively<T>(db: Database, work: () => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    for (;;) {
      // Polled, because the statement timeout rules out waiting for the lock in PostgreSQL.
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
