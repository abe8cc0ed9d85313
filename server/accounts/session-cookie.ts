import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { sessionTtlMs } from "./sessions.ts";

/** With https the name itself makes browsers keep the cookie to this host (RFC 6265bis, `__Host-`). */
const names = { secure: "__Host-parley_session", plain: "parley_session" } as const;

/**
 * What the session cookie of a request holds; undefined when there is none. Under https only the name counts that a
 * neighbouring host can't set.
 */
export function sessionCookieOf(request: FastifyRequest, baseUrl: string): string | undefined {
  const header = request.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[nameFor(baseUrl)];
}

/** Gives the browser its session. No script reads it, and no other site's page sends it along with a change. */
export function setSessionCookie(reply: FastifyReply, baseUrl: string, value: string): void {
  addCookie(
    reply,
    stringifySetCookie({
      name: nameFor(baseUrl),
      value,
      maxAge: sessionTtlMs / 1000,
      ...attributes(baseUrl),
    }),
  );
}

/** Takes the session away from the browser. */
export function clearSessionCookie(reply: FastifyReply, baseUrl: string): void {
  addCookie(
    reply,
    stringifySetCookie({ name: nameFor(baseUrl), value: "", maxAge: 0, ...attributes(baseUrl) }),
  );
}

function nameFor(baseUrl: string): string {
  return isSecure(baseUrl) ? names.secure : names.plain;
}

function attributes(baseUrl: string) {
  return { httpOnly: true, sameSite: "lax", path: "/", secure: isSecure(baseUrl) } as const;
}

function isSecure(baseUrl: string): boolean {
  return baseUrl.startsWith("https:");
}

function addCookie(reply: FastifyReply, cookie: string): void {
  const set = reply.getHeader("set-cookie");
  reply.header("set-cookie", [...(set === undefined ? [] : [set].flat().map(String)), cookie]);
}
