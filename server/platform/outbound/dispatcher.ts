import { Agent, type Dispatcher, fetch, Pool, ProxyAgent } from "undici";
import { proxyFor } from "./proxy.ts";

/** Sends requests by the proxy of each origin, or directly. */
export function createDispatcher(options: Agent.Options = {}): Dispatcher {
  return new Agent({
    ...options,
    factory: (origin, own) => {
      const proxy = proxyFor(new URL(origin));
      return proxy === null ? new Pool(origin, own) : new ProxyAgent({ ...own, uri: proxy.href });
    },
  });
}

let shared: Dispatcher | undefined;

/** `fetch` by the proxy of each origin. */
export const outboundFetch = (async (input: string | URL, init: object = {}) => {
  shared ??= createDispatcher();
  return fetch(input, { ...init, dispatcher: shared });
}) as unknown as typeof globalThis.fetch;
