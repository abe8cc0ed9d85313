import { sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * A restored installation is quarantined until an operator accepts it: it sends no webhooks and no mail and deletes nothing
 * by age. Otherwise a trial restore would notify receivers a second time and apply retention rules to a copy.
 */
export async function readQuarantine(
  db: Pick<Database, "pool">,
): Promise<{ readonly backup: string; readonly since: Date } | null> {
  const { rows } = await db.pool.query<{ backup: string; since: Date }>({
    name: "quarantine",
    text: "select restored_backup as backup, quarantined_at as since from installation where quarantined_at is not null",
  });
  return rows[0] ?? null;
}

/** How long a result is reused: the state is read often and changes once. */
const cachedMs = 5000;

/** @returns a function that says whether the installation is quarantined, at most five seconds late. */
export function watchQuarantine(db: Pick<Database, "pool">): () => Promise<boolean> {
  let [isQuarantined, readAt] = [false, Number.NEGATIVE_INFINITY];
  return async () => {
    if (performance.now() - readAt >= cachedMs) {
      isQuarantined = (await readQuarantine(db)) !== null;
      readAt = performance.now();
    }
    return isQuarantined;
  };
}

/** Ends the quarantine. @returns the id of the restored backup; null: it was not quarantined. */
export async function acceptRestore(db: Database): Promise<string | null> {
  const { rows } = await sql<{ backup: string }>`
    update installation set quarantined_at = null where quarantined_at is not null
    returning restored_backup as backup`.execute(db.kysely);
  return rows[0]?.backup ?? null;
}
