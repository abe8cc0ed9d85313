import type pg from "pg";

/** How long finished runs are listed. */
const keptFor = "1 year";

interface RunStart {
  readonly kind: "backup" | "verify";
  readonly destination: string;
  readonly scheduledFor: Date | null;
}

/**
 * Records that a run has begun. Only one runs at a time: runs of the same kind that still say `running` were interrupted.
 * @returns the run's id.
 */
async function startRun(
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

/** What a run did. */
interface RunResult {
  readonly backupId: string;
  readonly bytes?: number;
  readonly copiedBytes?: number;
  /** Keys of files that the backup lacks. */
  readonly missing?: readonly string[];
}

/** How many keys of missing files are recorded. */
const maxRecorded = 20;

/** Runs work and records that it began and how it ended. */
export async function recordRun<T>(
  client: pg.ClientBase,
  start: RunStart,
  work: () => Promise<T>,
  describe: (result: T) => RunResult,
): Promise<T> {
  const run = await startRun(client, start);
  try {
    const result = await work();
    await finishRun(client, run, describe(result));
    return result;
  } catch (error) {
    // The error itself is what counts; without the database it can't be recorded.
    await finishRun(client, run, { error: error as Error }).catch(() => undefined);
    throw error;
  }
}

/** Records that a scheduled backup failed, unless its process did that itself before it ended. */
export async function recordFailure(
  pool: Pick<pg.Pool, "query">,
  { destination, scheduledFor }: { readonly destination: string; readonly scheduledFor: Date },
  error: string,
): Promise<void> {
  await pool.query(
    `insert into backup_runs (kind, destination, scheduled_for, state, finished_at, error)
     values ('backup', $1, $2, 'failed', now(), left($3, 1000))
     on conflict (kind, scheduled_for) do update set state = 'failed', finished_at = now(), error = excluded.error
     where backup_runs.state = 'running'`,
    [destination, scheduledFor, error],
  );
}

/** A verification that an operator ran. */
export interface Verification {
  readonly destination: string;
  readonly backupId: string;
  /** The installation that the backup is of. */
  readonly installation: string;
  readonly durationMs: number;
  /** Null: it succeeded. */
  readonly error: string | null;
}

/** Records a verification that an operator ran. @returns false if the database is of another installation. */
export async function recordVerification(
  pool: Pick<pg.Pool, "query">,
  { destination, backupId, installation, durationMs, error }: Verification,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `insert into backup_runs (kind, destination, backup_id, state, started_at, finished_at, error)
     select 'verify', $1, $2, case when $3::text is null then 'succeeded' else 'failed' end,
       now() - $4 * interval '1 ms', now(), left($3, 1000)
     where exists (select 1 from installation where id::text = $5)`,
    [destination, backupId, error, durationMs, installation],
  );
  return rowCount === 1;
}

/** Records how a run ended. */
async function finishRun(
  client: pg.ClientBase,
  id: string,
  result: RunResult | { readonly error: Error },
): Promise<void> {
  if ("error" in result)
    await client.query(
      "update backup_runs set state = 'failed', finished_at = now(), error = left($2, 1000) where id = $1",
      [id, result.error.message],
    );
  else
    await client.query(
      `update backup_runs set state = 'succeeded', finished_at = now(), backup_id = $2, bytes = $3, copied_bytes = $4,
         missing_files = $5, first_missing = $6
       where id = $1`,
      [
        id,
        result.backupId,
        result.bytes ?? null,
        result.copiedBytes ?? null,
        result.missing?.length ?? null,
        result.missing?.slice(0, maxRecorded) ?? null,
      ],
    );
}
