import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { because } from "../../../../contract/causes/causes.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { sessionCookieOf } from "../sign-in/session-cookie.ts";

/** The name of the hidden field. */
export const formTokenField = "form_token";

/**
 * The CSRF token of a signed-in user's forms, derived from the session cookie, which no page can read. Null without a
 * session cookie. Source: OWASP CSRF prevention, HMAC-based tokens.
 */
export function formTokenOf(request: FastifyRequest, baseUrl: string): string | null {
  const cookie = sessionCookieOf(request, baseUrl);
  return cookie === undefined ? null : createHmac("sha256", cookie).update("parley form").digest("base64url");
}

/**
 * Checks the CSRF token of a form that was sent with a session cookie.
 * @throws ProblemError `forbidden` when it is missing or belongs to another session.
 */
export function checkFormToken(request: FastifyRequest, baseUrl: string): void {
  const expected = formTokenOf(request, baseUrl);
  if (expected === null) return;
  const given = (request.body as Record<string, unknown> | undefined)?.[formTokenField];
  const [a, b] = [Buffer.from(typeof given === "string" ? given : ""), Buffer.from(expected)];
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw new ProblemError("forbidden", because("form_of_other_session"));
}
