import type { RouteCaller } from "./callers.ts";
import type { World } from "./world.ts";

/** A request to a route; the test adds the caller's session or token. */
export interface RouteRequest {
  /** Path with query string. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** One request, or several that must have the same outcome. */
export type BuildRouteRequests = (
  world: World,
  caller: RouteCaller,
) => RouteRequest | RouteRequest[] | Promise<RouteRequest | RouteRequest[]>;

export function sendForm(
  path: string,
  fields: Readonly<Record<string, string>>,
  cookie?: string,
): RouteRequest {
  return {
    path,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(cookie === undefined ? {} : { cookie }),
    },
    body: new URLSearchParams(fields).toString(),
  };
}

export function sendJson(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RouteRequest {
  return { path, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
