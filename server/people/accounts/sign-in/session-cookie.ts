import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sessionTtlMs } from "./sessions.ts";

/** The value of a request's session cookie; undefined without one. */
export function sessionCookieOf(request: FastifyRequest, baseUrl: string): string | undefined {
  return ownCookieOf(request, baseUrl, "session");
}

/** Sets the session cookie. Scripts can't read it, and other sites' pages can't send it with a change. */
export function setSessionCookie(reply: FastifyReply, baseUrl: string, value: string): void {
  addCookie(reply, sessionCookie(baseUrl, value));
}

/** The session cookie as a `Set-Cookie` header. */
export function sessionCookie(baseUrl: string, value: string): string {
  return ownCookie(baseUrl, "session", value, sessionTtlMs / 1000);
}

/** Deletes the session cookie from the browser. */
export function clearSessionCookie(reply: FastifyReply, baseUrl: string): void {
  addCookie(reply, clearedSessionCookie(baseUrl));
}

export function clearedSessionCookie(baseUrl: string): string {
  return ownCookie(baseUrl, "session", "", 0);
}

type CookieName = "session" | "single_sign_on" | "sign_in_test" | "second_factor" | "passkey" | "device";

/** One of Parley's cookies as a `Set-Cookie` header. */
export function ownCookie(baseUrl: string, name: CookieName, value: string, maxAge: number): string {
  return stringifySetCookie({
    name: nameFor(baseUrl, name),
    value,
    maxAge,
    httpOnly: true,
    sameSite: "lax",
    path: "/",
    secure: isSecure(baseUrl),
  });
}

/** The value of one of Parley's cookies. With https, only the `__Host-` name counts, which other hosts can't set. */
export function ownCookieOf(request: FastifyRequest, baseUrl: string, name: CookieName): string | undefined {
  const header = request.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[nameFor(baseUrl, name)];
}

/** With https, the `__Host-` prefix makes browsers restrict the cookie to this host (RFC 6265bis). */
function nameFor(baseUrl: string, name: CookieName): string {
  return `${isSecure(baseUrl) ? "__Host-" : ""}parley_${name}`;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

/** Sets a cookie beside others: Fastify keeps each value of this header. */
export function addCookie(reply: FastifyReply, cookie: string): void {
  reply.header("set-cookie", cookie);
}
