import { channel } from "node:diagnostics_channel";
import type { FastifyInstance, RouteOptions } from "fastify";
import type { Operation } from "../../contract/operation.ts";
import { isOpen, versionNames } from "../../contract/versions.ts";

/** What a server answers at all, as its router has it. */
export interface Served {
  /** The operations by their id. */
  readonly operations: Map<string, Operation>;
  /** Which of them answer HEAD as well. */
  readonly heads: Set<string>;
  /** Method and path of every other route; versions and fingerprints in paths are written `:version`, `:hash`. */
  readonly doors: Set<string>;
}

/** Watches servers that start from now on in this process: no route can be registered past it. */
export function watchRoutes(): Served {
  const served: Served = { operations: new Map(), heads: new Set(), doors: new Set() };
  // Fastify tells of each server before anything is registered with it.
  channel("fastify.initialization").subscribe((message) => {
    (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", (route) => note(served, route));
  });
  return served;
}

function note({ operations, heads, doors }: Served, { method, url, config }: RouteOptions): void {
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
  for (const one of [method].flat()) doors.add(`${one} ${path}`);
}

/** The newest version that has an operation. */
export function newestOf({ gate }: Operation): string | undefined {
  return versionNames.findLast((version) => isOpen(gate, version));
}
