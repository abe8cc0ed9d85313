import { AsyncLocalStorage } from "node:async_hooks";

/** A part of the server that tokens can be restricted to (RFC 8707). */
export type Resource = "mcp";

const acting = new AsyncLocalStorage<Resource>();

/** Runs the requests that a resource sends to this server's own API on behalf of its caller. */
export function actAs<T>(resource: Resource, work: () => Promise<T>): Promise<T> {
  return acting.run(resource, work);
}

/**
 * Whether a token may be used for a request.
 * @param restrictedTo the resource of the token; null: the whole server.
 * @param requested the resource that the request is for; null: none of its own.
 */
export function isAudience(restrictedTo: Resource | null, requested: Resource | null): boolean {
  return restrictedTo === null || restrictedTo === (acting.getStore() ?? requested);
}
