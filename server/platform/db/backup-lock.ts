import type pg from "pg";

/** Any constant will do, as long as every process uses the same. */
const backupLock = 7_271_539_027;

/** Takes the lock of backups for a session. @returns false if another backup has it. */
export async function takeBackupLock(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>("select pg_try_advisory_lock($1) as taken", [
    backupLock,
  ]);
  return rows[0]?.taken ?? false;
}

/** Releases the lock that the session has taken. */
export async function releaseBackupLock(client: pg.ClientBase): Promise<void> {
  await client.query("select pg_advisory_unlock($1)", [backupLock]);
}

/**
 * Whether a backup copies files now. Files must not be removed then: the backup's snapshot may refer to them, even if the
 * database does not any more.
 */
export async function isBackupRunning(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ is_free: boolean }>({
    name: "backup_lock",
    text: `select not exists (select 1 from pg_locks where locktype = 'advisory' and database = (
        select oid from pg_database where datname = current_database())
      and (classid::bigint << 32 | objid::bigint) = ${backupLock} and granted) as is_free`,
  });
  return !(rows[0]?.is_free ?? true);
}
