import type { FastifyRequest } from "fastify";
import { ProblemError } from "../errors/problem.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Scheme, host and port of PARLEY_BASE_URL. */
    ownOrigin: string;
  }
}

/**
 * Whether a page of another site made this request. All current browsers send `Sec-Fetch-Site`, or `Origin` with requests
 * that change something. The origin is compared with the base URL too, because not every proxy forwards the Host header.
 * A request with neither header was not made by a page, so it uses no victim's cookie.
 * Sources: Fetch Metadata Request Headers (W3C), RFC 6454.
 */
export function isCrossSite(request: FastifyRequest): boolean {
  if (request.method === "GET" || request.method === "HEAD") return false;
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const { origin } = request.headers;
  if (origin === undefined || origin.toLowerCase() === request.server.ownOrigin) return false;
  return hostOf(origin) !== request.host.toLowerCase();
}

/** @throws ProblemError `forbidden` for a cross-site request. */
export function refuseCrossSite(request: FastifyRequest): void {
  if (isCrossSite(request))
    throw new ProblemError(
      "forbidden",
      "this request came from a page on another site; other sites must use an access token",
    );
}

/** Host and port of an origin; null for the opaque origin `null` and for invalid text. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
