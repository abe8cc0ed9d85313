import type pg from "pg";
import { MovedError } from "./errors.ts";

/**
 * @throws MovedError if the database was moved elsewhere, or is the target of a move that is not complete: two databases of
 * one installation must never be written to.
 */
export async function refuseMoved(pool: Pick<pg.Pool, "query">): Promise<void> {
  const { rows: tables } = await pool.query<{ exists: boolean }>(
    "select to_regclass('store_migration') is not null as exists",
  );
  if (!tables[0]?.exists) return;
  const { rows } = await pool.query<{ moved_to: string | null; moved_at: Date; arriving: boolean }>(
    "select moved_to, moved_at, arriving_since is not null as arriving from installation",
  );
  const [row] = rows;
  if (row?.arriving)
    throw new MovedError(
      "the move to this database is not complete. Run the same `parley database move` again, with the settings of the former database",
    );
  if (row?.moved_to) throw new MovedError(movedMessage(row.moved_to, row.moved_at));
}

/** The remedy for processes with the settings of a database that was moved. */
export function movedMessage(movedTo: string, at: Date | null): string {
  return `this database was moved to ${movedTo}${at === null ? "" : ` at ${at.toISOString()}`}. ${settingFor(movedTo)}, and restart all Parley processes`;
}

/** How the new database is configured. @param movedTo as `describeDatabase` names it. */
export function settingFor(movedTo: string): string {
  return movedTo.startsWith("postgres")
    ? "Set PARLEY_DATABASE_URL to its connection string, change PARLEY_DATABASE_DIRECT_URL and PARLEY_DATABASE_REPLICA_URL to servers of the new database or unset them"
    : "Unset PARLEY_DATABASE_URL, PARLEY_DATABASE_DIRECT_URL and PARLEY_DATABASE_REPLICA_URL";
}
