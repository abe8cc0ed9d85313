import { Agent, type Dispatcher, fetch, Pool, ProxyAgent } from "undici";
import { outboundProxy, proxyFor } from "./proxy.ts";

/**
 * Sends requests by the proxy of each origin, or directly.
 * @param by other proxies than those of this process, to try them.
 */
export function createDispatcher(
  options: Agent.Options = {},
  by?: { readonly env: Readonly<Record<string, string | undefined>>; readonly own: string | null },
): Dispatcher {
  return new Agent({
    ...options,
    factory: (origin, own) => {
      const proxy = proxyFor(new URL(origin), by?.env, by?.own);
      return proxy === null ? new Pool(origin, own) : new ProxyAgent({ ...own, uri: proxy.href });
    },
  });
}

let shared: { readonly dispatcher: Dispatcher; readonly proxy: string | null } | undefined;

/** The dispatcher of this process; another one once the settings name another proxy. */
function sharedDispatcher(): Dispatcher {
  const proxy = outboundProxy();
  if (shared?.proxy !== proxy) {
    // Requests in flight end by the former proxy; an error has nobody to go to.
    shared?.dispatcher.close().catch(() => undefined);
    shared = { dispatcher: createDispatcher(), proxy };
  }
  return shared.dispatcher;
}

const fetchByDispatcher = (dispatcher: Dispatcher, input: string | URL, init: object = {}): unknown =>
  fetch(input, { ...init, dispatcher });

/** `fetch` by a dispatcher. The package's types of a request and a response are not those of Node. */
export const fetchWith = fetchByDispatcher as (
  dispatcher: Dispatcher,
  input: string | URL,
  init?: RequestInit,
) => Promise<Response>;

const fetchByProxy: unknown = (input: string | URL, init: object = {}) =>
  fetchByDispatcher(sharedDispatcher(), input, init);

/** `fetch` by the proxy of each origin. */
export const outboundFetch = fetchByProxy as typeof globalThis.fetch;
