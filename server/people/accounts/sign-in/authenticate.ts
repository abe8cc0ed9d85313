import type { FastifyRequest } from "fastify";
import type pg from "pg";
import { backgroundHeader } from "../../../../contract/accounts/background.ts";
import { isAudience, type Resource } from "../../../platform/auth/audience.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { refuseCrossSite } from "../../../platform/http/origin/cross-site.ts";
import { endOf, refusedByRule, ruleRefusal } from "../../access/security-rules.ts";
import { hashToken, tokenTypeOf } from "../tokens/access-tokens.ts";
import {
  findToken,
  ruledSession,
  ruledToken,
  type SessionRow,
  type TokenRow,
  touchToken,
} from "../tokens/queries.ts";
import { sessionCookieOf } from "./session-cookie.ts";
import { findSession, hashSession, looksLikeSession, noteAddress, touchSession } from "./sessions.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Whether an issuer is one of a sign-in provider of the settings. */
    acceptsIssuer: (issuer: string) => boolean;
  }
}

/**
 * Authenticates a request's caller by token (RFC 6750) or by the session of a signed-in browser.
 * @throws ProblemError `token_missing` or `token_invalid`, with `WWW-Authenticate`; `refused_by_rule`.
 */
export type Authenticate = (request: FastifyRequest) => Promise<Principal>;

/** @param resource what the requests are for: tokens that are restricted to another resource are refused (RFC 8707). */
export function createAuthenticate(pool: pg.Pool, baseUrl: string, resource: Resource | null): Authenticate {
  return async (request) => {
    const header = request.headers.authorization;
    if (header === undefined || header.trim() === "") {
      const session = await readRuledSession(pool, request, baseUrl);
      if (session?.refusal === "address") throw refusedByRule("address");
      if (session !== null) return session.principal;
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
    const row = await findToken(pool, type, hashToken(token));
    if (row === undefined || !isAudience(row.resource, resource)) throw invalidToken();
    const refused = ruleRefusal(row.security_rules, ruledToken(row, request.ip));
    if (refused === "token_age") throw invalidToken();
    if (refused !== null) throw refusedByRule(refused);
    if (row.use_is_old) await touchToken(pool, row.id, request.ip);
    return toPrincipal(row);
  };
}

/**
 * The user of the request's session cookie; null without a cookie, when the session has ended, or when the rules of the
 * workspace refuse it.
 * @throws ProblemError `forbidden` for a cross-site request.
 */
export async function readSession(
  pool: pg.Pool,
  request: FastifyRequest,
  baseUrl: string,
): Promise<Principal | null> {
  const session = await readRuledSession(pool, request, baseUrl);
  return session === null || session.refusal !== null ? null : session.principal;
}

interface RuledSession {
  readonly principal: Principal;
  readonly refusal: "address" | "second_factor" | null;
  /** Of the browser that the user last opened the app with; null: it is not known. */
  readonly browserLanguage: string | null;
}

/**
 * The same, also of a session that the rules refuse from this IP address, or until its user has set up a second factor: for
 * pages that say so or end it.
 * @throws ProblemError `forbidden` for a cross-site request.
 */
export async function readRuledSession(
  pool: pg.Pool,
  request: FastifyRequest,
  baseUrl: string,
): Promise<RuledSession | null> {
  const cookie = sessionCookieOf(request, baseUrl);
  if (cookie === undefined || !looksLikeSession(cookie)) return null;
  const row = await findSession(pool, hashSession(cookie));
  if (row === undefined) return null;
  // Nobody could end it any more at a provider that was removed. Once the provider is back, the session continues.
  if (row.sign_in_issuer !== null && !request.server.acceptsIssuer(row.sign_in_issuer)) return null;
  const refusal = ruleRefusal(row.security_rules, ruledSession(row, request.ip));
  // The session has ended, though its row is still there.
  if (refusal !== null && refusal !== "address" && refusal !== "second_factor") return null;
  refuseCrossSite(request);
  if (refusal !== "address") await noteRequest(pool, row, request);
  const principal: Principal = {
    tokenId: row.id,
    tokenType: "session",
    scope: "personal",
    workspaceId: row.workspace_id,
    userId: row.user_id,
    role: row.role,
    language: row.language,
    emailKey: row.email_key,
    name: row.user_name,
    expiresAt: row.expires_at,
    provenAt: row.since,
    mustSetUpSecondFactor: refusal === "second_factor",
    // The web app follows the contract.
    datetimeFilters: "contract",
    compatibility: "none",
    sees: row.sees,
  };
  return { principal, refusal, browserLanguage: row.browser_language };
}

/** Notes a request in its session, so that its user sees from where it is used. */
async function noteRequest(pool: pg.Pool, row: SessionRow, request: FastifyRequest): Promise<void> {
  if (!isUse(request)) {
    if (row.seen_ip !== request.ip) await noteAddress(pool, row.id, request.ip);
  } else if (row.use_is_old) await touchSession(pool, row.id, request.ip);
}

/**
 * Whether a request counts as use of its session: not where the web app says that its user did nothing, nor for streams, which
 * browsers open again without their user. What can change something is always use.
 */
function isUse({ method, headers, routeOptions }: FastifyRequest): boolean {
  const isBackground = method === "GET" && headers[backgroundHeader] !== undefined;
  return !isBackground && routeOptions.config.operation?.isOpenEnded !== true;
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
    language: row.language,
    emailKey: row.email_key,
    name: scope === "workspace" ? row.workspace_name : row.user_name,
    expiresAt: endOf(row.security_rules, { since: row.since, expiresAt: row.expires_at, kind: "token" }),
    ...(row.datetime_filters === null ? {} : { datetimeFilters: row.datetime_filters }),
    ...(row.compatibility === null ? {} : { compatibility: row.compatibility }),
    sees: row.sees,
  };
}
