import type { FastifyRequest } from "fastify";
import { ProblemError } from "./problem.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Scheme, host and port that people reach this server by. */
    ownOrigin: string;
  }
}

/**
 * Whether a page of another site made this request. Every browser of today says so: `Sec-Fetch-Site`, or `Origin` on
 * whatever changes something. The origin may be the one people reach us by: not every proxy hands the Host on. A request with neither was not made by a page, so nobody's cookie was borrowed.
 * Sources: Fetch Metadata Request Headers (W3C), RFC 6454.
 */
export function isForged(request: FastifyRequest): boolean {
  if (request.method === "GET" || request.method === "HEAD") return false;
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  if (origin === undefined || origin.toLowerCase() === request.server.ownOrigin) return false;
  return hostOf(origin) !== request.host.toLowerCase();
}

/** @throws ProblemError `forbidden` for a request that another site's page made. */
export function refuseForgery(request: FastifyRequest): void {
  if (isForged(request))
    throw new ProblemError(
      "forbidden",
      "this request was made by a page of another site; use an access token from there",
    );
}

/** Host and port of an origin; null for the opaque origin and for what is none. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
