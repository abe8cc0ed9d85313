import type { Database, Tx } from "./database.ts";

/** A deadlock ends one transaction of the cycle; the others continue, so one retry is nearly always enough. */
const tries = 3;

/**
 * Runs a transaction, and runs it again when PostgreSQL ended it because of a deadlock (40P01). For changes that take
 * many locks and must not fail for that. `work` must have no effects outside its transaction.
 */
export async function transactWithRetry<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.kysely.transaction().execute(work);
    } catch (error) {
      if (attempt === tries || !isDeadlock(error)) throw error;
    }
  }
}

function isDeadlock(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === "40P01";
}
