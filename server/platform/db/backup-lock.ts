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

/** The lock of backups in pg_locks. */
const lockRow = `l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
  and (l.classid::bigint << 32 | l.objid::bigint) = ${backupLock} and l.granted`;

/** The session that has the lock; null: none has. */
export async function findBackupLockHolder(
  client: pg.ClientBase,
): Promise<{ readonly pid: number; readonly host: string | null; readonly since: Date } | null> {
  const { rows } = await client.query<{ pid: number; host: string | null; since: Date }>(
    `select a.pid, host(a.client_addr) as host, a.backend_start as since
     from pg_locks l join pg_stat_activity a on a.pid = l.pid where ${lockRow}`,
  );
  return rows[0] ?? null;
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
    text: `select not exists (select 1 from pg_locks l where ${lockRow}) as is_free`,
  });
  return !(rows[0]?.is_free ?? true);
}
