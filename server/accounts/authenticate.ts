import type { FastifyRequest } from "fastify";
import type pg from "pg";
import type { Principal } from "../access/principal.ts";
import { refuseForgery } from "../http/forgery.ts";
import { ProblemError } from "../http/problem.ts";
import { hashToken, looksLikeToken } from "./access-tokens.ts";
import {
  findTokenAndTranscript,
  findTokenByHash,
  findTranscriptVersion,
  type TokenRow,
  touchToken,
} from "./queries.ts";
import { sessionCookieOf } from "./session-cookie.ts";
import { findSession, hashSession, looksLikeSession, touchSession } from "./sessions.ts";

/** Who is calling, and what of the recording in the address was asked for along with it. */
export interface Caller {
  readonly principal: Principal;
  /** Null when the caller can't see the recording; undefined when none was asked about. */
  readonly transcriptVersion: number | null | undefined;
}

/**
 * Finds out who is calling: by a token (RFC 6750), or by the session of a signed-in browser.
 * @param recordingId also find the transcript version of this recording, in the same round trip.
 * @throws ProblemError `token_missing` or `token_invalid`, with `WWW-Authenticate`.
 */
export async function authenticate(
  pool: pg.Pool,
  request: FastifyRequest,
  baseUrl: string,
  recordingId?: string,
): Promise<Caller> {
  const header = request.headers.authorization;
  if (header === undefined || header.trim() === "") {
    const session = await readSession(pool, request, baseUrl);
    if (session !== null) return withTranscript(pool, session, recordingId);
    throw new ProblemError(
      "token_missing",
      "send an access token in the header Authorization: Bearer <token>",
      {
        headers: { "www-authenticate": 'Bearer realm="parley"' },
      },
    );
  }
  const token = /^bearer +(\S+) *$/i.exec(header)?.[1];
  if (token === undefined || !looksLikeToken(token)) throw invalidToken();
  const hash = hashToken(token);
  const row =
    recordingId === undefined
      ? await findTokenByHash(pool, hash)
      : await findTokenAndTranscript(pool, hash, recordingId);
  if (row === undefined) throw invalidToken();
  if (row.use_is_old) await touchToken(pool, row.id);
  return { principal: toPrincipal(row), transcriptVersion: row.transcript_version };
}

/**
 * The person whose session the request's cookie names; null when there is none or it has ended.
 * @throws ProblemError `forbidden` for a request that another site's page made in the person's name.
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
  refuseForgery(request);
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
    sees: row.sees,
  };
}

async function withTranscript(
  pool: pg.Pool,
  principal: Principal,
  recordingId: string | undefined,
): Promise<Caller> {
  if (recordingId === undefined) return { principal, transcriptVersion: undefined };
  return { principal, transcriptVersion: await findTranscriptVersion(pool, principal.sees, recordingId) };
}

/** One text for unknown, expired and revoked: who holds a dead token learns nothing about it. */
function invalidToken(): ProblemError {
  return new ProblemError("token_invalid", "the access token is unknown, expired or revoked", {
    headers: { "www-authenticate": 'Bearer realm="parley", error="invalid_token"' },
  });
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
    sees: row.sees,
  };
}
