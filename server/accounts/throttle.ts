import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import { sql } from "kysely";
import type { Database, Executor, Tx } from "../db/database.ts";

/**
 * How attempts of one kind are slowed down. Attempts are counted, the count leaks, and beyond `free` the wait doubles
 * with each more; so whoever goes on for ever gets one attempt in `leakSec`.
 */
export interface Limit {
  /** What is counted, hashed: nothing in the table names a person or a place. */
  readonly key: Buffer;
  readonly free: number;
  readonly leakSec: number;
}

/** The wait after the first attempt that is not free. */
const firstWaitSec = 5;

/** Nobody ever waits for longer. */
export const longestWaitSec = 15 * 60;

/** Counts of one whole day ago have leaked away. */
const keptHours = 24;

/** Addresses are believed for this long after the last sign-in from there. */
const knownDays = 90;

/**
 * An email as accounts are found by it. PostgreSQL and JavaScript fold some letters differently (Σ at the end of a word,
 * İ), so it is always PostgreSQL that does.
 */
export async function foldEmail(db: Database, email: string): Promise<string> {
  const { rows } = await sql<{ key: string }>`select lower(${email.trim()}::text) as key`.execute(db.kysely);
  return rows[0]?.key ?? "";
}

export function keyOf(...parts: readonly string[]): Buffer {
  return createHash("sha256").update(parts.join("\n")).digest();
}

/** What counts as one place: an IPv4 address, or the 64 bits that a connection's owner of IPv6 has to give away. */
export function placeOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6
    ? address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")
    : address.toString();
}

/**
 * Counts an attempt before it is known how it goes, so that many at once are many.
 * @returns 0 when it may go on; otherwise the seconds to wait, and nothing was counted.
 */
export async function takeAttempt(db: Database, limits: readonly Limit[]): Promise<number> {
  const keys = limits.map(({ key }) => key);
  // Whoever has to wait leaves nothing behind, or a flood of refused attempts would fill the table.
  const known = longestWait(judge(await readCounts(db.kysely, keys), limits));
  if (known > 0) return known;
  const tx = await db.kysely.startTransaction().execute();
  try {
    await sql`
      insert into sign_in_failures (key, count, last_at)
      select key, 0, now() from unnest(${keys}::bytea[]) as key order by key
      on conflict (key) do nothing`.execute(tx);
    const counts = judge(await readCounts(tx, keys, "for update"), limits);
    const wait = longestWait(counts);
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

/** What is left of each count by now, and how long the next attempt has to wait for it. */
function judge(counts: readonly Count[], limits: readonly Limit[]) {
  return counts.map(({ key, count, ago }) => {
    const limit = limits.find((one) => one.key.equals(key));
    if (limit === undefined) throw new Error("a count came back that nobody asked for");
    const left = Math.max(0, count - ago / limit.leakSec);
    return { key, left, waitSec: waitSec(left, limit.free) - ago };
  });
}

/** In whole seconds; 0 when nothing has to wait. */
function longestWait(judged: readonly { readonly waitSec: number }[]): number {
  return Math.ceil(Math.max(0, ...judged.map((one) => one.waitSec)));
}

/** How long after so many attempts the next one has to wait. */
function waitSec(count: number, free: number): number {
  // An attempt counts until all of it has leaked away.
  const over = Math.ceil(count) - free;
  return over < 0 ? 0 : Math.min(longestWaitSec, firstWaitSec * 2 ** over);
}

/** Takes the attempt out of the counts again: it was none, or it was right. */
export async function giveBack(db: Database["kysely"] | Tx, keys: readonly Buffer[]): Promise<void> {
  await sql`
    update sign_in_failures set count = greatest(0, count - 1)
    where key in (select key from sign_in_failures where key = any(${[...keys]}::bytea[]) order by key for update)`.execute(
    db,
  );
}

/** Lets the wait begin when the answer is known. */
export async function touchAttempt(tx: Tx, keys: readonly Buffer[]): Promise<void> {
  await sql`
    update sign_in_failures set last_at = clock_timestamp()
    where key in (select key from sign_in_failures where key = any(${[...keys]}::bytea[]) order by key for update)`.execute(
    tx,
  );
}

export async function forgetAttempts(tx: Tx, keys: readonly Buffer[]): Promise<void> {
  await tx
    .deleteFrom("sign_in_failures")
    .where("key", "in", [...keys])
    .execute();
}

/** Whether this person has signed in from this place lately. The same question for accounts that don't exist. */
export async function isKnownPlace(db: Database, email: string, ip: string): Promise<boolean> {
  const row = await db.kysely
    .selectFrom("known_addresses")
    .select("key")
    .where("key", "=", keyOf("known", email, placeOf(ip)))
    .executeTakeFirst();
  return row !== undefined;
}

export async function rememberPlace(tx: Tx, email: string, ip: string): Promise<void> {
  await tx
    .insertInto("known_addresses")
    .values({ key: keyOf("known", email, placeOf(ip)) })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ last_at: sql`now()` }))
    .execute();
}

/** Removes counts that have leaked away and places nobody came from for long. */
export async function sweepThrottle(db: Database): Promise<void> {
  await sql`delete from sign_in_failures where last_at < now() - make_interval(hours => ${keptHours})`.execute(
    db.kysely,
  );
  await sql`delete from known_addresses where last_at < now() - make_interval(days => ${knownDays})`.execute(
    db.kysely,
  );
}

/** Removes what counts for an email, and the places that this person's sessions came from, under whatever hash. */
export async function forgetPlaces(tx: Tx, userId: string, email: string): Promise<void> {
  const rows = await tx.selectFrom("sessions").select("ip").where("user_id", "=", userId).execute();
  const places = [...new Set(rows.map(({ ip }) => placeOf(ip)))];
  const keys = [
    keyOf("account", email),
    keyOf("reset", email),
    keyOf("change", userId),
    ...places.flatMap((place) => [keyOf("pair", email, place), keyOf("known", email, place)]),
  ];
  await tx.deleteFrom("known_addresses").where("key", "in", keys).execute();
  await forgetAttempts(tx, keys);
}
