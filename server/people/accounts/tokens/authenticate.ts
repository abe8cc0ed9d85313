import { isDeepStrictEqual } from "node:util";
import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type pg from "pg";
import { isAudience, type Resource } from "../../../platform/auth/audience.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import { queryTogether } from "../../../platform/db/client.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { refuseCrossSite } from "../../../platform/http/origin/cross-site.ts";
import type { TokenCheck } from "../../../platform/http/routing/token-check.ts";
import { sessionCookieOf } from "../sign-in/session-cookie.ts";
import { findSession, hashSession, looksLikeSession, touchSession } from "../sign-in/sessions.ts";
import { hashToken, tokenTypeOf } from "./access-tokens.ts";
import { type TokenRow, tokenStatement, touchToken } from "./queries.ts";

/** How many tokens' callers a process remembers, and for how long. */
const maxRemembered = 10_000;
const rememberedMs = 3_600_000;

/** A caller, and the check of the token that is still to be made; null: there is none. */
interface Caller {
  readonly principal: Principal;
  readonly tokenCheck: TokenCheck | null;
}

/**
 * Authenticates a request's caller by token (RFC 6750) or by the session of a signed-in browser.
 * @param mayCheckLater allows the check of a token whose caller is known from an earlier request to be made with the
 *   request's first statement.
 * @throws ProblemError `token_missing` or `token_invalid`, with `WWW-Authenticate`.
 */
export type Authenticate = (request: FastifyRequest, mayCheckLater: boolean) => Promise<Caller>;

/** @param resource what the requests are for: tokens that are restricted to another resource are refused (RFC 8707). */
export function createAuthenticate(
  db: Pick<Database, "pool" | "shortStatements">,
  baseUrl: string,
  resource: Resource | null,
): Authenticate {
  const { pool, shortStatements } = db;
  /** By the hash of their token. Only what is expected: each request reads its token from the database. */
  const callers = new LRUCache<string, Principal>({ max: maxRemembered, ttl: rememberedMs });

  /** The caller of a token by its row, or the one that was expected if it is the same. @throws ProblemError `token_invalid`. */
  async function readCaller(row: TokenRow | undefined, expected?: Principal): Promise<Principal> {
    if (row === undefined || !isAudience(row.resource, resource)) throw invalidToken();
    if (row.use_is_old) await touchToken(pool, row.id);
    const principal = toPrincipal(row);
    return expected !== undefined && isDeepStrictEqual(principal, expected) ? expected : principal;
  }

  function checkLater(find: pg.QueryConfig, key: string, expected: Principal): TokenCheck {
    let checked: Promise<Principal> | null = null;
    let isConfirmed = false;
    const check = (found: Promise<pg.QueryResult<TokenRow>>): Promise<Principal> => {
      const caller = found.then(({ rows }) => readCaller(rows[0], expected));
      caller.then(
        (principal) => {
          isConfirmed = principal === expected;
          callers.set(key, principal);
        },
        () => callers.delete(key),
      );
      return caller;
    };
    const query = async (statement: pg.QueryConfig): Promise<pg.QueryResult> => {
      if (checked !== null) {
        if ((await checked) !== expected) throw changed();
        return pool.query(statement);
      }
      const [found, result] = queryTogether(db, find, statement);
      checked = check(found);
      // Its error counts only if the caller is the expected one.
      result.catch(() => {});
      if ((await checked) !== expected) throw changed();
      return result;
    };
    return {
      source: { query } as TokenCheck["source"],
      async readValue(name, sql, argument) {
        if (checked !== null) throw new Error("the token has already been checked");
        const found = shortStatements.run(() =>
          pool.query<TokenRow & { readonly value: unknown }>({
            name: `${find.name}_${name}`,
            text: `with token as (${find.text}) select token.*, (${sql}) as value from token`,
            values: [...(find.values ?? []), argument],
          }),
        );
        checked = check(found);
        if ((await checked) !== expected) throw changed();
        return (await found).rows[0]?.value;
      },
      isConfirmed: () => isConfirmed,
      confirm() {
        checked ??= check(pool.query(find));
        return checked;
      },
    };
  }

  return async (request, mayCheckLater) => {
    const header = request.headers.authorization;
    if (header === undefined || header.trim() === "") {
      const session = await readSession(pool, request, baseUrl);
      if (session !== null) return { principal: session, tokenCheck: null };
      throw new ProblemError(
        "token_missing",
        "send an access token in the header Authorization: Bearer <token>",
        {
          headers: { "www-authenticate": 'Bearer realm="parley"' },
        },
      );
    }
    const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
    const type = token === undefined ? null : tokenTypeOf(token);
    if (token === undefined || type === null) throw invalidToken();
    const hash = hashToken(token);
    const find = tokenStatement(type, hash);
    const key = hash.toString("base64");
    const expected = mayCheckLater ? callers.get(key) : undefined;
    if (expected !== undefined) return { principal: expected, tokenCheck: checkLater(find, key, expected) };
    const { rows } = await pool.query<TokenRow>(find);
    const principal = await readCaller(rows[0]);
    if (mayCheckLater) callers.set(key, principal);
    return { principal, tokenCheck: null };
  };
}

/**
 * The user of the request's session cookie; null without a cookie or when the session has ended.
 * @throws ProblemError `forbidden` for a cross-site request.
 */
export async function readSession(
  pool: pg.Pool,
  request: FastifyRequest,
  baseUrl: string,
): Promise<Principal | null> {
  const cookie = sessionCookieOf(request, baseUrl);
  if (cookie === undefined || !looksLikeSession(cookie)) return null;
  const row = await findSession(pool, hashSession(cookie));
  if (row === undefined) return null;
  refuseCrossSite(request);
  if (row.use_is_old) await touchSession(pool, row.id);
  return {
    tokenId: row.id,
    tokenType: "session",
    scope: "personal",
    workspaceId: row.workspace_id,
    userId: row.user_id,
    role: row.role,
    emailKey: row.email_key,
    name: row.user_name,
    expiresAt: row.expires_at,
    // The web app follows the contract.
    datetimeFilters: "contract",
    compatibility: "none",
    sees: row.sees,
  };
}

/** The same error for unknown, expired, revoked and restricted tokens, so that it reveals nothing about them. */
function invalidToken(): ProblemError {
  return new ProblemError(
    "token_invalid",
    "the access token is unknown, expired, revoked or for another resource",
    {
      headers: { "www-authenticate": 'Bearer realm="parley", error="invalid_token"' },
    },
  );
}

/** Never reaches a client, because the request is handled again. */
function changed(): Error {
  return new Error("the caller of the token has changed");
}

function toPrincipal(row: TokenRow): Principal {
  const scope = row.type === "workspace_access_token" ? "workspace" : "personal";
  return {
    tokenId: row.id,
    countedAs: row.counted_as,
    tokenType: row.type,
    scope,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    role: row.role,
    emailKey: row.email_key,
    name: scope === "workspace" ? row.workspace_name : row.user_name,
    expiresAt: row.expires_at,
    ...(row.datetime_filters === null ? {} : { datetimeFilters: row.datetime_filters }),
    ...(row.compatibility === null ? {} : { compatibility: row.compatibility }),
    sees: row.sees,
  };
}
