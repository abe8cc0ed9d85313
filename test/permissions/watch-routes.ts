import { channel } from "node:diagnostics_channel";
import type { FastifyInstance, RouteOptions } from "fastify";
import type { Operation } from "../../contract/operation.ts";
import { isOpen, versionNames } from "../../contract/versions.ts";

/** The routes of a server, as registered with its router. */
export interface WatchedRoutes {
  /** The operations by id. */
  readonly operations: Map<string, Operation>;
  /** The operations that also support HEAD. */
  readonly heads: Set<string>;
  /** Method and path of every other route; versions and hashes in paths are written `:version`, `:hash`. */
  readonly otherRoutes: Set<string>;
}

/** Records every route of the servers that start in this process from now on. */
export function watchRoutes(): WatchedRoutes {
  const served: WatchedRoutes = { operations: new Map(), heads: new Set(), otherRoutes: new Set() };
  // Fastify publishes each server before any route is registered.
  channel("fastify.initialization").subscribe((message) => {
    (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", (route) =>
      recordRoute(served, route),
    );
  });
  return served;
}

function recordRoute(
  { operations, heads, otherRoutes }: WatchedRoutes,
  { method, url, config }: RouteOptions,
): void {
  const operation = config?.operation;
  if (operation !== undefined) {
    operations.set(operation.id, operation);
    if (method === "HEAD") heads.add(operation.id);
    return;
  }
  if (config?.isRefusal) return;
  const path = versionNames
    .reduce((text, version) => text.replace(version, ":version"), url)
    .replace(/-[0-9a-f]{12}\./, "-:hash.");
  for (const one of [method].flat()) otherRoutes.add(`${one} ${path}`);
}

/** The newest version that has an operation. */
export function newestOf({ gate }: Operation): string | undefined {
  return versionNames.findLast((version) => isOpen(gate, version));
}
