import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sessionTtlMs } from "./sessions.ts";

/** What the session cookie of a request holds; undefined when there is none. */
export function sessionCookieOf(request: FastifyRequest, baseUrl: string): string | undefined {
  return ownCookieOf(request, baseUrl, "session");
}

/** Gives the browser its session. No script reads it, and no other site's page sends it along with a change. */
export function setSessionCookie(reply: FastifyReply, baseUrl: string, value: string): void {
  addCookie(reply, sessionCookie(baseUrl, value));
}

/** The same as a `Set-Cookie` header. */
export function sessionCookie(baseUrl: string, value: string): string {
  return ownCookie(baseUrl, "session", value, sessionTtlMs / 1000);
}

/** Takes the session away from the browser. */
export function clearSessionCookie(reply: FastifyReply, baseUrl: string): void {
  addCookie(reply, clearedSessionCookie(baseUrl));
}

export function clearedSessionCookie(baseUrl: string): string {
  return ownCookie(baseUrl, "session", "", 0);
}

type CookieName = "session" | "single_sign_on";

/** A cookie of ours as a `Set-Cookie` header. */
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

/**
 * What a cookie of ours holds in this request. Under https only the name counts that a neighbouring host can't set.
 */
export function ownCookieOf(request: FastifyRequest, baseUrl: string, name: CookieName): string | undefined {
  const header = request.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[nameFor(baseUrl, name)];
}

/** With https the name itself makes browsers keep the cookie to this host (RFC 6265bis, `__Host-`). */
function nameFor(baseUrl: string, name: CookieName): string {
  return `${isSecure(baseUrl) ? "__Host-" : ""}parley_${name}`;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

export function addCookie(reply: FastifyReply, cookie: string): void {
  const set = reply.getHeader("set-cookie");
  reply.header("set-cookie", [...(set === undefined ? [] : [set].flat().map(String)), cookie]);
}
