import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ProblemError } from "../http/problem.ts";
import { sessionCookieOf } from "./session-cookie.ts";

/** The name of the hidden field. */
export const formTokenField = "form_token";

/**
 * What a form of a signed-in person carries, so that no other page can send it: made from the session's cookie, which no
 * page can read. Null without a session's cookie. Source: OWASP CSRF prevention, HMAC-based tokens.
 */
export function formTokenOf(request: FastifyRequest, baseUrl: string): string | null {
  const cookie = sessionCookieOf(request, baseUrl);
  return cookie === undefined ? null : createHmac("sha256", cookie).update("parley form").digest("base64url");
}

/**
 * Checks the hidden field of a form that came with a session's cookie.
 * @throws ProblemError `forbidden` when it is missing or another session's.
 */
export function checkFormToken(request: FastifyRequest, baseUrl: string): void {
  const expected = formTokenOf(request, baseUrl);
  if (expected === null) return;
  const given = (request.body as Record<string, unknown> | undefined)?.[formTokenField];
  const [a, b] = [Buffer.from(typeof given === "string" ? given : ""), Buffer.from(expected)];
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw new ProblemError("forbidden", "this form is not of your present session; load the page again");
}
