import type pg from "pg";

/** How long finished runs are listed. */
const keptFor = "1 year";

interface RunStart {
  readonly kind: "backup" | "verify";
  readonly destination: string;
  readonly scheduledFor: Date | null;
}

/**
 * Records that a run has begun. The caller holds the lock of backups, so runs of the same kind that still say `running`
 * were interrupted.
 * @returns the run's id.
 */
export async function startRun(
  client: pg.ClientBase,
  { kind, destination, scheduledFor }: RunStart,
): Promise<string> {
  await client.query(
    `update backup_runs set state = 'failed', finished_at = now(), error = 'it was interrupted'
     where state = 'running' and kind = $1`,
    [kind],
  );
  await client.query(`delete from backup_runs where started_at < now() - interval '${keptFor}'`);
  const { rows } = await client.query<{ id: string }>(
    `insert into backup_runs (kind, destination, scheduled_for) values ($1, $2, $3)
     on conflict (kind, scheduled_for) do update set state = 'running', started_at = now(), finished_at = null, error = null
     returning id`,
    [kind, destination, scheduledFor],
  );
  return rows[0]?.id ?? "";
}

/** Records how a run ended. */
export async function finishRun(
  client: pg.ClientBase,
  id: string,
  result:
    | { readonly error: Error }
    | { readonly backupId: string; readonly bytes?: number; readonly copiedBytes?: number },
): Promise<void> {
  if ("error" in result)
    await client.query(
      "update backup_runs set state = 'failed', finished_at = now(), error = left($2, 1000) where id = $1",
      [id, result.error.message],
    );
  else
    await client.query(
      `update backup_runs set state = 'succeeded', finished_at = now(), backup_id = $2, bytes = $3, copied_bytes = $4
       where id = $1`,
      [id, result.backupId, result.bytes ?? null, result.copiedBytes ?? null],
    );
}
