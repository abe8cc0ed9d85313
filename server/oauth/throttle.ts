import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database, Tx } from "../db/database.ts";
import { addressKey } from "../http/address-key.ts";
import { OAuthError } from "./oauth-error.ts";

/** What is guessed at, and how many wrong guesses a minute are listened to. */
const limits = { client_secret: 20, client_id: 60, code: 60, refresh_token: 120 } as const;

/** How often a minute one family is refreshed: an access token is good for an hour, so this is for lost answers. */
const mostRefreshes = 60;

/** One thing guessed at by one address. */
export interface Attempt {
  readonly kind: keyof typeof limits;
  /** The client as the request names it; null for one that isn't there. */
  readonly clientId: string | null;
  readonly ip: string;
}

/**
 * Refuses while there were too many wrong guesses in this minute, right or wrong. Counted per client and address, so that
 * whoever guesses stops only themself.
 * @throws OAuthError with 429 and `Retry-After`.
 */
export async function refuseGuessing(db: Database, attempt: Attempt): Promise<void> {
  const { rows } = await db.pool.query<{ count: number }>({
    name: "oauth_guesses",
    text: "select count from rate_limit_counters where key = $1 and window_start = date_trunc('minute', now())",
    values: [keyOf(attempt)],
  });
  if ((rows[0]?.count ?? 0) >= limits[attempt.kind]) throw tooMany();
}

/** Counts a wrong guess. @throws OAuthError with 429 when there were too many, also of those that came at once. */
export async function countGuess(db: Database, attempt: Attempt): Promise<void> {
  const { rows } = await db.pool.query<{ count: number }>({
    name: "oauth_count_guess",
    text: `insert into rate_limit_counters as c (key, window_start, count)
           values ($1, date_trunc('minute', now()), 1)
           on conflict (key, window_start) do update set count = c.count + 1
           returning count`,
    values: [keyOf(attempt)],
  });
  if ((rows[0]?.count ?? 0) > limits[attempt.kind]) throw tooMany();
}

/**
 * Counts a refresh, in its transaction: one that is refused or rolled back does not count.
 * @throws OAuthError with 429 when the family was refreshed too often in this minute.
 */
export async function countRefresh(tx: Tx, familyId: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    insert into rate_limit_counters as c (key, window_start, count)
    values (${`oauth:refresh:${familyId}`}, date_trunc('minute', clock_timestamp()), 1)
    on conflict (key, window_start) do update set count = c.count + 1
    returning count`.execute(tx);
  if ((rows[0]?.count ?? 0) > mostRefreshes) throw tooMany("these tokens are refreshed too often");
}

function tooMany(what = "too many failed attempts"): OAuthError {
  const seconds = 60 - (Math.floor(Date.now() / 1000) % 60);
  return new OAuthError("slow_down", `${what}; try again in ${seconds} s`, {
    status: 429,
    headers: { "retry-after": String(seconds) },
  });
}

/** Hashed, since what a request calls a client could be anything. */
function keyOf({ kind, clientId, ip }: Attempt): string {
  const hash = createHash("sha256")
    .update(`${clientId ?? ""}\n${addressKey(ip)}`)
    .digest("base64url");
  return `oauth:${kind}:${hash}`;
}
