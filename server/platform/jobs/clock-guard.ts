import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import type { Database } from "../db/database.ts";

/** What the guard knows of the clock. */
export interface ClockState {
  /** False while the clock is ahead of the time that a worker last saw, and no operator has confirmed it. */
  readonly isTrusted: boolean;
  /** The clock before and after the jump; null while it is trusted. */
  readonly jump: { readonly from: Date; readonly to: Date } | null;
}

/** Whether something may be deleted, or ended for good, because of its age. */
export interface ClockGuard {
  mayDelete(): Promise<boolean>;
  /** The same for callers between the intervals: only reads what the guard has stored. */
  isTrusted(): Promise<boolean>;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** A gap up to this is a restart or a slow interval. */
const usualGapMs = hourMs;

/** A longer gap always needs a confirmation: too much would go at once, whatever the server was doing meanwhile. */
const maxGapMs = 3 * dayMs;

/** Of what the history has, this share may become old in one gap; a month of history loses a tenth in three days. */
const usualShare = 0.2;

/** With less history than this, a share says nothing. */
const minRows = 100;

/** How far the clock of a process may be from the database's. */
const maxSkewMs = 300_000;

/** Repeats of the warning. */
const warnEveryMs = hourMs;

/**
 * Guards everything that deletes by age against a clock that jumped: a clock that is wrong for ten minutes must not
 * empty the history permanently.
 * @param intervalMs how often the guard is asked; a gap of a few intervals is usual.
 */
export function createClockGuard(
  { pool }: Pick<Database, "pool">,
  log: Pick<FastifyBaseLogger, "warn" | "info">,
  intervalMs: number,
): ClockGuard {
  let warnedAt = Number.NEGATIVE_INFINITY;

  const gapMs = Math.max(usualGapMs, 3 * intervalMs);

  // Checked before every task: the clock may jump between two of them.
  async function mayDelete(): Promise<boolean> {
    const { state, databaseNow } = await readClock(pool, gapMs);
    const skewMs = Date.now() - databaseNow.getTime();
    const complaint = complaintOf(state, skewMs);
    if (complaint === null) {
      if (warnedAt > 0) log.info("the clock is trusted again; deletion by age continues");
      warnedAt = Number.NEGATIVE_INFINITY;
      return true;
    }
    if (performance.now() - warnedAt >= warnEveryMs) {
      warnedAt = performance.now();
      log.warn(complaint);
    }
    return false;
  }

  async function isTrusted(): Promise<boolean> {
    const { rows } = await pool.query<{ is_trusted: boolean }>(
      `select jumped_from is null and clock_timestamp() - seen_at < $1 * interval '1 millisecond' as is_trusted
       from clock_guard`,
      [gapMs],
    );
    return rows[0]?.is_trusted ?? true;
  }

  return { mayDelete, isTrusted };
}

function complaintOf({ jump }: ClockState, skewMs: number): string | null {
  if (jump !== null)
    return `the clock jumped from ${jump.from.toISOString()} to ${jump.to.toISOString()} since a worker last checked. Deletion by age is paused. If the time is right because the server was off, run \`parley clock confirm\`; otherwise correct the clock`;
  if (Math.abs(skewMs) > maxSkewMs)
    return `the clock of this process differs from the database's by ${Math.round(skewMs / 1000)} s. Deletion by age is paused. Correct the clock of this machine or of the database's`;
  return null;
}

interface ClockRow {
  readonly now: Date;
  readonly seen_at: Date;
  readonly jumped_from: Date | null;
  readonly jumped_to: Date | null;
  readonly passed_ms: string;
}

/** Compares the database's clock with the time stored last, and stores the new one. Safe in several workers. */
async function readClock(pool: pg.Pool, gapMs: number): Promise<{ state: ClockState; databaseNow: Date }> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("insert into clock_guard (seen_at) values (clock_timestamp()) on conflict do nothing");
    const { rows } = await client.query<ClockRow>(
      `select clock_timestamp() as now, seen_at, jumped_from, jumped_to,
         (extract(epoch from passed) * 1000)::bigint as passed_ms
       from clock_guard for update`,
    );
    const [row] = rows;
    if (row === undefined) throw new Error("the table clock_guard has lost its row");
    const next = await nextClock(client, row, gapMs);
    await client.query(
      `update clock_guard set seen_at = $1, jumped_from = $2, jumped_to = $3,
         passed = $4 * interval '1 millisecond'`,
      [row.now, next?.from ?? null, next?.to ?? null, next?.passedMs ?? 0],
    );
    await client.query("commit");
    return {
      state: { isTrusted: next === null, jump: next === null ? null : { from: next.from, to: next.to } },
      databaseNow: row.now,
    };
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

interface Jump {
  readonly from: Date;
  readonly to: Date;
  /** How much time has really passed since, as far as a worker has seen it. */
  readonly passedMs: number;
}

async function nextClock(client: pg.PoolClient, row: ClockRow, gapMs: number): Promise<Jump | null> {
  const sinceMs = row.now.getTime() - row.seen_at.getTime();
  if (row.jumped_from === null || row.jumped_to === null) {
    const isJump = sinceMs > maxGapMs || (sinceMs > gapMs && (await wouldLoseMuch(client)));
    return isJump && sinceMs > gapMs ? { from: row.seen_at, to: row.now, passedMs: 0 } : null;
  }
  const passedMs = Number(row.passed_ms) + (sinceMs > 0 && sinceMs <= gapMs ? sinceMs : 0);
  // The clock was corrected.
  if (row.now.getTime() <= row.jumped_from.getTime() + passedMs + gapMs) return null;
  const to = row.now.getTime() - row.seen_at.getTime() > gapMs ? row.now : row.jumped_to;
  // The time has really passed.
  if (passedMs >= to.getTime() - row.jumped_from.getTime()) return null;
  return { from: row.jumped_from, to, passedMs };
}

/** Whether an unusual share of the history would be deleted at once. */
async function wouldLoseMuch(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ total: string; old: string }>(
    `select count(*) as total, count(*) filter (where occurred_at < now() - interval '30 days') as old from events`,
  );
  const [total, old] = [Number(rows[0]?.total), Number(rows[0]?.old)];
  return old >= minRows && old > total * usualShare;
}

/** What the guard has stored, without checking the clock. */
export async function readClockState({ pool }: Pick<Database, "pool">): Promise<ClockState> {
  const { rows } = await pool.query<{ jumped_from: Date; jumped_to: Date }>(
    "select jumped_from, jumped_to from clock_guard where jumped_from is not null",
  );
  const [row] = rows;
  return row === undefined
    ? { isTrusted: true, jump: null }
    : { isTrusted: false, jump: { from: row.jumped_from, to: row.jumped_to } };
}

/** Trusts the clock as it is now: what is old by it is deleted at the next interval. */
export async function confirmClock({ pool }: Pick<Database, "pool">): Promise<void> {
  await pool.query(
    `insert into clock_guard (seen_at) values (clock_timestamp())
     on conflict (is_only) do update
       set seen_at = excluded.seen_at, jumped_from = null, jumped_to = null, passed = '0'`,
  );
}
