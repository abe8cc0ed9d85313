import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { takeBackupLock } from "../../platform/db/backup-lock.ts";
import { type ConnectionSettings, openDatabase } from "../../platform/db/database.ts";
import { readSchema } from "../../platform/db/migrate.ts";
import { announceMove, findServing, takeMoverLock } from "../../platform/db/presence.ts";
import { loadDatabase } from "../backup/load.ts";
import { connectForCopy, openSnapshot, type Snapshot } from "../backup/snapshot.ts";
import { verifyAudit } from "../backup/verify.ts";
import { MoveError } from "./errors.ts";

/** How far a move of the database is. */
interface MoveProgress {
  readonly phase: "pausing" | "database" | "verifying" | "switching" | "activating";
  readonly total: number;
  readonly done: number;
}

/** A move of the database. */
export interface DatabaseMove {
  readonly source: ConnectionSettings;
  readonly target: ConnectionSettings;
  /** The target for messages, without password. */
  readonly targetName: string;
  readonly onProgress: (progress: MoveProgress) => void;
}

/** What a move did. */
export interface MoveResult {
  readonly rows: number;
  /** How long requests were refused; null: an earlier run has moved the database. */
  readonly pausedMs: number | null;
}

/** How long processes may take to end their work. */
const pauseMs = 60_000;
const pollMs = 100;

/** How long to wait for transactions in progress. */
const lockMs = 60_000;
const lockAttempts = 3;

/**
 * Moves the database to another server. All its tables are locked meanwhile, which a killed command ends: then the source is
 * in use as before. The copy is loaded in one transaction and marked as arriving, so that nothing uses it. After its
 * verification one transaction makes the source refuse all changes for good; the last one activates the copy. Killed between
 * these two, neither is used until the command is run again.
 * @throws MoveError; then the source is in use, unless it says otherwise.
 */
export async function moveDatabase(move: DatabaseMove): Promise<MoveResult> {
  const source = await connectForCopy(move.source);
  try {
    const target = await connectForCopy(move.target).catch((error: Error) => {
      throw new MoveError(`${move.targetName} can't be reached: ${error.message}`, { cause: error });
    });
    try {
      return await moveBetween(move, source, target);
    } finally {
      await target.end();
    }
  } finally {
    // Unlocks the tables and lets processes continue, unless the source was moved.
    await source.end();
  }
}

async function moveBetween(move: DatabaseMove, source: pg.Client, target: pg.Client): Promise<MoveResult> {
  // Only one command moves anything; a second one on the same database would find the lock taken as well.
  if (!(await takeMoverLock(source, "storage")))
    throw new MoveError(
      "another command is moving the database or files, or changing the secrets; wait until it has finished",
    );
  if (!(await takeMoverLock(target, "storage")))
    throw new MoveError("the target is the database that is used now, or another command moves to it");
  const schema = await readSchema(move.source);
  if (schema.missing.length > 0)
    throw new MoveError("the database is from an older version; run `parley migrate` first");
  const record = await readRecord(source);
  if (record === null) throw new MoveError("the source has no installation");
  if (record.moved_to !== null) {
    await complete(move, record, target);
    return { rows: 0, pausedMs: null };
  }
  if (record.arriving_since !== null)
    throw new MoveError(
      "the configured database is the target of a move that is not complete. Run that move again, with the settings of the former database",
    );
  const isReplaced = await checkTarget(move, record, target);
  if (!(await takeBackupLock(source)))
    throw new MoveError("a backup is running; run this again when it has finished");

  const began = performance.now();
  await pauseProcesses(move, source);
  await lockTables(source);
  const moveId = randomUUID();
  const rows = await copyDatabase(move, target, moveId, isReplaced);
  move.onProgress({ phase: "switching", total: 1, done: 0 });
  await retire(move, source, moveId);
  move.onProgress({ phase: "activating", total: 1, done: 0 });
  await target.query("update installation set arriving_since = null where move_id = $1", [moveId]);
  move.onProgress({ phase: "activating", total: 1, done: 1 });
  await announceMove(source);
  return { rows, pausedMs: performance.now() - began };
}

/** What a database says about itself and moves. */
interface Record {
  readonly id: string;
  readonly move_id: string | null;
  readonly moved_to: string | null;
  readonly arriving_since: string | null;
}

/** @returns null for a database without an installation. */
async function readRecord(client: pg.Client): Promise<Record | null> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    "select to_regclass('installation') is not null as exists",
  );
  if (!tables[0]?.exists) return null;
  // An older version has other columns.
  const { rows } = await client.query<{ row: Partial<Record> & { id: string } }>(
    "select to_jsonb(i) as row from installation i",
  );
  const row = rows[0]?.row;
  return row === undefined ? null : { move_id: null, moved_to: null, arriving_since: null, ...row };
}

/** Activates the target of a move that was interrupted after the source was retired. */
async function complete(
  { targetName, onProgress }: DatabaseMove,
  { moved_to, move_id }: Record,
  target: pg.Client,
): Promise<void> {
  const there = await readRecord(target);
  if (there === null || there.move_id !== move_id)
    throw new MoveError(`the database was moved to ${moved_to} already, not to ${targetName}`);
  onProgress({ phase: "activating", total: 1, done: 0 });
  await target.query("update installation set arriving_since = null where move_id = $1", [move_id]);
  onProgress({ phase: "activating", total: 1, done: 1 });
}

/**
 * Makes sure that nothing is lost in the target: it is empty, or has an incomplete or retired copy of this installation.
 * @returns whether it has such a copy.
 */
async function checkTarget(
  { target: settings, targetName }: DatabaseMove,
  { id }: Record,
  target: pg.Client,
): Promise<boolean> {
  const there = await readRecord(target);
  if (there === null) {
    // Also refuses a server on which the schema could not work.
    await readSchema(settings);
    return false;
  }
  const isCopy = there.id === id && (there.arriving_since !== null || there.moved_to !== null);
  if (!isCopy)
    throw new MoveError(`${targetName} already has an installation; create an empty database for Parley`);
  if ((await findServing(target)).length > 0)
    throw new MoveError(`Parley processes are using ${targetName}; stop them first`);
  return true;
}

/** Waits until no process uses the database. They continue when the lock is gone. */
async function pauseProcesses({ onProgress }: DatabaseMove, source: pg.Client): Promise<void> {
  if (!(await takeMoverLock(source, "database")))
    throw new MoveError("another command is moving the database; wait until it has finished");
  await announceMove(source);
  const deadline = performance.now() + pauseMs;
  for (let most = 0; ; ) {
    const serving = await findServing(source);
    most = Math.max(most, serving.length);
    onProgress({ phase: "pausing", total: most, done: most - serving.length });
    if (serving.length === 0) return;
    if (performance.now() > deadline)
      throw new MoveError(
        `${serving.length} Parley ${serving.length === 1 ? "process has" : "processes have"} not paused within a minute; stop all processes and run this again. Nothing was changed`,
      );
    await sleep(pollMs);
  }
}

/** Tables whose rows survive a crash; the others are not moved. */
const tablesOf = `
  select c.oid::regclass::text as name from pg_class c
  where (c.relnamespace = current_schema()::regnamespace or c.relnamespace = to_regnamespace('pgboss'))
    and c.relkind in ('r', 'p') and c.relpersistence = 'p'
    and not exists (select 1 from pg_depend d where d.objid = c.oid and d.deptype = 'e')
  order by c.oid`;

async function readTableNames(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(tablesOf);
  return rows.map(({ name }) => name);
}

/** Begins a transaction in which nobody else changes a row, also commands and processes that don't follow moves. */
async function lockTables(source: pg.Client): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await source.query("begin");
    try {
      await source.query(`set local lock_timeout = ${lockMs}`);
      const names = await readTableNames(source);
      await source.query(`lock table ${names.join(", ")} in share row exclusive mode`);
      return;
    } catch (error) {
      await source.query("rollback");
      // A deadlock with a transaction in progress.
      if ((error as { code?: unknown }).code === "40P01" && attempt < lockAttempts) continue;
      throw new MoveError(
        `transactions in progress keep the tables of the database: ${(error as Error).message}. Nothing was changed; run this again`,
        { cause: error },
      );
    }
  }
}

/** Copies and verifies everything. @returns the number of rows. */
async function copyDatabase(
  move: DatabaseMove,
  target: pg.Client,
  moveId: string,
  isReplaced: boolean,
): Promise<number> {
  const db = openDatabase(move.target, { applicationName: "parley tool", onError: () => {} });
  const snapshot = await openSnapshot(move.source);
  try {
    if (isReplaced) await allowJobs(target);
    const counts = await load(move, snapshot, moveId, isReplaced);
    const broken = await verifyAudit(db);
    if (broken.length > 0) throw new MoveError(`${broken.join("; ")}. The database was not moved`);
    move.onProgress({ phase: "verifying", total: 1, done: 1 });
    return [...counts.values()].reduce((sum, count) => sum + count, 0);
  } finally {
    await snapshot.close();
    await db.close();
  }
}

/**
 * Lets the job queue of a retired copy be brought up to date. The copy's own tables refuse changes until the transaction
 * that replaces them is committed.
 */
async function allowJobs(target: pg.Client): Promise<void> {
  const { rows } = await target.query<{ name: string }>(
    `select tgrelid::regclass::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where t.tgname = 'parley_moved' and c.relnamespace = to_regnamespace('pgboss')`,
  );
  for (const { name } of rows) await target.query(`drop trigger if exists parley_moved on ${name}`);
}

async function load(
  { target, onProgress }: DatabaseMove,
  snapshot: Snapshot,
  moveId: string,
  isReplaced: boolean,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let done = 0;
  await loadDatabase(
    target,
    {
      ...snapshot,
      open: (table) => snapshot.readTable(table, (rows) => counts.set(table.name, rows)),
    },
    {
      replace: isReplaced,
      isCurrent: true,
      onTable: () => onProgress({ phase: "database", total: snapshot.tables.length + 1, done: done++ }),
      finish: async (client) => {
        onProgress({ phase: "verifying", total: 1, done: 0 });
        await compare(client, snapshot, counts);
        await client.query("update installation set move_id = $1, arriving_since = clock_timestamp()", [
          moveId,
        ]);
      },
    },
  );
  return counts;
}

/** @throws MoveError if the copy has other numbers of rows, or sequences at other positions. */
async function compare(
  client: pg.Client,
  { sequences }: Snapshot,
  counts: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [name, expected] of counts) {
    const table = name
      .split(".")
      .map((part) => pg.escapeIdentifier(part))
      .join(".");
    const { rows } = await client.query<{ count: string }>(`select count(*) as count from ${table}`);
    if (Number(rows[0]?.count) !== expected)
      throw new MoveError(
        `the copy of ${name} has ${rows[0]?.count} rows instead of ${expected}; the database was not moved`,
      );
  }
  for (const { name, value } of sequences) {
    const { rows } = await client.query<{ value: string }>(
      `select last_value::text as value from ${pg.escapeIdentifier(name)}`,
    );
    if (rows[0]?.value !== value)
      throw new MoveError(`the copy of the sequence ${name} differs; the database was not moved`);
  }
}

/** Ends the transaction that locks the tables: from now on the source refuses all changes, also those that wait. */
async function retire({ targetName }: DatabaseMove, source: pg.Client, moveId: string): Promise<void> {
  await source.query("update installation set move_id = $1, moved_to = $2, moved_at = clock_timestamp()", [
    moveId,
    targetName,
  ]);
  for (const name of await readTableNames(source))
    await source.query(
      `create trigger parley_moved before insert or update or delete or truncate on ${name}
       for each statement execute function parley_refuse_moved()`,
    );
  await source.query("set local synchronous_commit = on");
  await source.query("commit");
}
