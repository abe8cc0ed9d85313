import { createHash } from "node:crypto";
import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";

/**
 * How attempts of one kind are throttled. Attempts are counted and the count leaks by one every `leakSec`. Beyond `free`
 * attempts the wait doubles with each, so an attacker who never stops gets one attempt per `leakSec`.
 */
export interface Limit {
  /** A hash of what is counted, so that the table names no user and no IP address. */
  readonly key: Buffer;
  readonly free: number;
  readonly leakSec: number;
}

/** The wait after the first attempt that is not free. */
const firstWaitSec = 5;

/** The longest wait. */
const maxWaitSec = 15 * 60;

/** After a day every count has leaked to zero. */
const keptHours = 24;

/** How long an IP prefix stays known after the last sign-in from it. */
const knownDays = 90;

/**
 * An email in the form accounts are looked up by. PostgreSQL folds it, because some locales of databases know only the case
 * of ASCII letters.
 */
export async function foldEmail(db: Database, email: string): Promise<string> {
  const { rows } = await sql<{ key: string }>`select parley_lower(${email.trim()}::text) as key`.execute(
    db.kysely,
  );
  return rows[0]?.key ?? "";
}

export function keyOf(...parts: readonly string[]): Buffer {
  return createHash("sha256").update(parts.join("\n")).digest();
}

/**
 * Counts an attempt before its outcome is known, so that concurrent attempts all count.
 * @returns 0 when the attempt may proceed; otherwise the seconds to wait, and nothing was counted.
 */
export async function takeAttempt(db: Database, limits: readonly Limit[]): Promise<number> {
  const keys = limits.map(({ key }) => key);
  // Refused attempts write nothing, or a flood of them would fill the table.
  const known = findMaxWait(leakCounts(await readCounts(db.kysely, keys), limits));
  if (known > 0) return known;
  const tx = await db.kysely.startTransaction().execute();
  try {
    await sql`
      insert into sign_in_failures (key, count, last_at)
      select key, 0, now() from unnest(${keys}::bytea[]) as key order by key
      on conflict (key) do nothing`.execute(tx);
    const counts = leakCounts(await readCounts(tx, keys, "for update"), limits);
    const wait = findMaxWait(counts);
    if (wait > 0) {
      await tx.rollback().execute();
      return wait;
    }
    await sql`
      update sign_in_failures f set count = c.count, last_at = clock_timestamp()
      from unnest(${counts.map(({ key }) => key)}::bytea[], ${counts.map(({ left }) => left + 1)}::float8[])
        as c (key, count)
      where f.key = c.key`.execute(tx);
    await tx.commit().execute();
    return 0;
  } catch (error) {
    if (!tx.isCommitted && !tx.isRolledBack) await tx.rollback().execute();
    throw error;
  }
}

/** The error for an attempt that has to wait. */
export function tooManyAttempts(retryAfterSec: number): ProblemError {
  return new ProblemError("rate_limited", because("too_many_attempts", { seconds: retryAfterSec }), {
    headers: { "retry-after": String(retryAfterSec) },
  });
}

interface Count {
  readonly key: Buffer;
  readonly count: number;
  /** Seconds since the last attempt. */
  readonly ago: number;
}

async function readCounts(db: Executor, keys: readonly Buffer[], lock?: "for update"): Promise<Count[]> {
  const { rows } = await sql<Count>`
    select key, count, greatest(0, extract(epoch from clock_timestamp() - last_at))::float8 as ago
    from sign_in_failures where key = any(${keys}::bytea[]) order by key ${sql.raw(lock ?? "")}`.execute(db);
  return rows;
}

/** Each count after leaking, and how long the next attempt has to wait for it. */
function leakCounts(counts: readonly Count[], limits: readonly Limit[]) {
  return counts.map(({ key, count, ago }) => {
    const limit = limits.find((one) => one.key.equals(key));
    if (limit === undefined) throw new Error("the query returned a count for an unknown key");
    const left = Math.max(0, count - ago / limit.leakSec);
    return { key, left, waitSec: waitSec(left, limit.free) - ago };
  });
}

/** The longest wait in whole seconds; 0 when the attempt may proceed. */
function findMaxWait(counts: readonly { readonly waitSec: number }[]): number {
  return Math.ceil(Math.max(0, ...counts.map((one) => one.waitSec)));
}

/** The wait after `count` attempts. */
function waitSec(count: number, free: number): number {
  // An attempt counts until it has leaked entirely.
  const over = Math.ceil(count) - free;
  return over < 0 ? 0 : Math.min(maxWaitSec, firstWaitSec * 2 ** over);
}

/** Undoes the counting of an attempt that succeeded or was not made. */
export async function refundAttempt(db: Database["kysely"] | Tx, keys: readonly Buffer[]): Promise<void> {
  await sql`
    update sign_in_failures set count = greatest(0, count - 1)
    where key in (select key from sign_in_failures where key = any(${[...keys]}::bytea[]) order by key for update)`.execute(
    db,
  );
}

/** Restarts the wait once the attempt has failed. */
export async function touchAttempt(tx: Tx, keys: readonly Buffer[]): Promise<void> {
  await sql`
    update sign_in_failures set last_at = clock_timestamp()
    where key in (select key from sign_in_failures where key = any(${[...keys]}::bytea[]) order by key for update)`.execute(
    tx,
  );
}

export async function deleteAttempts(tx: Tx, keys: readonly Buffer[]): Promise<void> {
  await tx
    .deleteFrom("sign_in_failures")
    .where("key", "in", [...keys])
    .execute();
}

/** Whether the user has signed in from this IP prefix recently. Runs the same query when the account doesn't exist. */
export async function isKnownIpPrefix(db: Executor, email: string, ip: string): Promise<boolean> {
  const row = await db
    .selectFrom("known_ip_addresses")
    .select("key")
    .where("key", "=", keyOf("known", email, ipPrefixOf(ip)))
    .executeTakeFirst();
  return row !== undefined;
}

export async function rememberIpPrefix(tx: Tx, email: string, ip: string): Promise<void> {
  await tx
    .insertInto("known_ip_addresses")
    .values({ key: keyOf("known", email, ipPrefixOf(ip)) })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ last_at: sql`now()` }))
    .execute();
}

/** Removes counts that have leaked to zero, and IP prefixes that are no longer known. */
export async function sweepThrottle(db: Database): Promise<void> {
  await sql`delete from sign_in_failures where last_at < now() - make_interval(hours => ${keptHours})`.execute(
    db.kysely,
  );
  await sql`delete from known_ip_addresses where last_at < now() - make_interval(days => ${knownDays})`.execute(
    db.kysely,
  );
}

/** Deletes the attempts counted for a user and the IP prefixes their sessions came from. */
export async function deleteSignInHistory(tx: Tx, userId: string, email: string): Promise<void> {
  const rows = await tx.selectFrom("sessions").select("ip").where("user_id", "=", userId).execute();
  const prefixes = [...new Set(rows.map(({ ip }) => ipPrefixOf(ip)))];
  const keys = [
    keyOf("account", email),
    keyOf("code account", email),
    keyOf("second factor", userId),
    keyOf("reset", email),
    keyOf("change", userId),
    ...prefixes.flatMap((prefix) => [
      keyOf("pair", email, prefix),
      keyOf("code", email, prefix),
      keyOf("known", email, prefix),
    ]),
  ];
  await tx.deleteFrom("known_ip_addresses").where("key", "in", keys).execute();
  await deleteAttempts(tx, keys);
}

export const deleteOldSignInFailuresKind = defineRecurringJob({
  name: "delete_old_sign_in_failures",
  label: (i18n) => i18n.t("Delete old sign-in failures"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => sweepThrottle(db),
});
