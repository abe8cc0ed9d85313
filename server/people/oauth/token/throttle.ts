import { createHash } from "node:crypto";
import { sql } from "kysely";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { OAuthError } from "../oauth-error.ts";

/** Allowed wrong guesses a minute, by what is guessed. */
const limits = { client_secret: 20, client_id: 60, code: 60, refresh_token: 120 } as const;

/** Refreshes a minute of one family. Access tokens last an hour, so more than a few are retries of lost responses. */
const maxRefreshes = 60;

/** What is guessed, by which IP address. */
export interface Attempt {
  readonly kind: keyof typeof limits;
  /** The client id in the request; null for an unknown client. */
  readonly clientId: string | null;
  readonly ip: string;
}

/**
 * Refuses every attempt, even a correct one, after too many wrong guesses in this minute. Counted per client and IP prefix,
 * so that an attacker blocks only themselves.
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

/** Counts a wrong guess. @throws OAuthError with 429 when there were too many, including concurrent ones. */
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
 * Counts a refresh in its transaction, so that a refused or rolled back refresh does not count.
 * @throws OAuthError with 429 when the family was refreshed too often in this minute.
 */
export async function countRefresh(tx: Tx, familyId: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    insert into rate_limit_counters as c (key, window_start, count)
    values (${`oauth:refresh:${familyId}`}, date_trunc('minute', clock_timestamp()), 1)
    on conflict (key, window_start) do update set count = c.count + 1
    returning count`.execute(tx);
  if ((rows[0]?.count ?? 0) > maxRefreshes) throw tooMany("the token was refreshed too often");
}

function tooMany(what = "too many failed attempts"): OAuthError {
  const seconds = 60 - (Math.floor(Date.now() / 1000) % 60);
  return new OAuthError("slow_down", `${what}; try again in ${seconds} s`, {
    status: 429,
    headers: { "retry-after": String(seconds) },
  });
}

/** Hashed, because the client id of a request can be any text. */
function keyOf({ kind, clientId, ip }: Attempt): string {
  const hash = createHash("sha256")
    .update(`${clientId ?? ""}\n${ipPrefixOf(ip)}`)
    .digest("base64url");
  return `oauth:${kind}:${hash}`;
}
