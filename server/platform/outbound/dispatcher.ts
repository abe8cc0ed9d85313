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

const fetchByProxy: unknown = (input: string | URL, init: object = {}) => {
  shared ??= createDispatcher();
  return fetch(input, { ...init, dispatcher: shared });
};

/** `fetch` by the proxy of each origin. The package's types of a request and a response are not those of Node. */
export const outboundFetch = fetchByProxy as typeof globalThis.fetch;
