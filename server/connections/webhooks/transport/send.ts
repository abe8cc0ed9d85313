import { sentenceOf } from "../../../../contract/sentences.ts";
import { createGuardedAgent } from "../../../platform/outbound/guarded-agent.ts";
import type { GuardedConnectorOptions, HookLookup } from "../../../platform/outbound/guarded-connect.ts";
import { checkHookUrl } from "../../../platform/outbound/target.ts";
import { collectResponse, type HookResponse, type ResponseCollector } from "./response.ts";

export type { HookResponse } from "./response.ts";

/**
 * Sends webhook requests. Each is one POST on a connection to an allowed IP address (platform/outbound/guarded-connect.ts): no
 * redirect is followed, and the time and size of the response are limited.
 */

export interface HookRequest {
  /** As `checkHookUrl` accepts it. */
  readonly url: string;
  /** In lower case. Those that are the same for every hook cannot be replaced. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole attempt: lookup, connection, request and response. */
  readonly timeoutMs?: number;
  /** Ends the attempt early. */
  readonly signal?: AbortSignal;
}

export interface HookSender {
  /** Never rejects: every failure is a response with an `error`. */
  send(request: HookRequest): Promise<HookResponse>;
  /** Connections that are open or being opened, also those kept for the next request. */
  connections(): number;
  /** Aborts what is in flight and closes every connection. Wait for the responses that matter first. */
  close(): Promise<void>;
}

export interface HookSenderOptions {
  /** IP ranges that are allowed although they are not public. */
  readonly allowAddresses: GuardedConnectorOptions["allowAddresses"];
  /** Design: success is a 2xx within 15 s. */
  readonly timeoutMs?: number;
  /** How much of a body is read. */
  readonly maxResponseBytes?: number;
  /** Certificates to trust in place of the usual ones, as PEM. */
  readonly ca?: string | undefined;
  /** How host names are resolved; by default as the system does. */
  readonly lookup?: HookLookup | undefined;
  /** How long an unused connection is kept. */
  readonly keepAliveMs?: number;
}

/** The same for every hook. */
const fixedHeaders = {
  "user-agent": "Parley-Hooks/1",
  "content-type": "application/json",
  accept: "*/*",
} as const;

/** With more connections than this, a request's connection is not kept: 100,000 receivers must not hold a socket each. */
const MAX_KEPT_CONNECTIONS = 512;

/** After this many requests a connection is replaced, so that a new IP address of the host is noticed under load too. */
const REQUESTS_PER_CONNECTION = 1000;

/** Creates a sender with connections of its own. End it with `close`. */
export function createHookSender(options: HookSenderOptions): HookSender {
  const { timeoutMs = 15_000, maxResponseBytes = 20_480, keepAliveMs = 4000 } = options;
  const agent = createGuardedAgent(
    { ...options, timeoutMs },
    {
      // No limit: callers limit the requests of each hook. Many hooks may share an origin, and a request would wait here
      // for the connection of a hook that hangs.
      connections: null,
      maxRequestsPerClient: REQUESTS_PER_CONNECTION,
      // Shorter than what servers keep to (5 s and up); a receiver may ask for other times, within bounds.
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: 2.5 * keepAliveMs,
      // An attempt has one timeout for everything, below.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
  );
  const targets = createTargets();
  const inFlight = new Set<ResponseCollector>();
  let isClosed = false;

  async function send(request: HookRequest): Promise<HookResponse> {
    const undici = await agent.open();
    return new Promise((resolve) => {
      const response = collectResponse(maxResponseBytes, resolve);
      const target = targets.of(request.url);
      if ("problem" in target) return response.fail(sentenceOf("net_url", { reason: target.problem }));
      if (isClosed || request.signal?.aborted) return response.stop();
      const limitMs = request.timeoutMs ?? timeoutMs;
      const timer = setTimeout(() => response.timeOut(limitMs), limitMs);
      request.signal?.addEventListener("abort", response.stop);
      inFlight.add(response);
      response.whenOver(() => {
        clearTimeout(timer);
        request.signal?.removeEventListener("abort", response.stop);
        inFlight.delete(response);
      });
      undici.dispatch(
        {
          origin: target.origin,
          path: target.path,
          method: "POST",
          headers: { ...request.headers, ...fixedHeaders },
          body: request.body,
          ...(agent.connections() >= MAX_KEPT_CONNECTIONS ? { reset: true } : {}),
        },
        response.handler,
      );
    });
  }

  return {
    send,
    connections: agent.connections,
    close: async () => {
      isClosed = true;
      for (const response of inFlight) response.stop();
      await agent.close();
    },
  };
}

type Target = { readonly origin: string; readonly path: string } | { readonly problem: string };

/** How many parsed URLs are kept: parsing and checking takes a tenth of the time of a request. */
const MAX_TARGETS = 1000;

/** Checks and parses the URLs of requests. */
function createTargets(): { of(url: string): Target } {
  const known = new Map<string, Target>();
  return {
    of: (text) => {
      const found = known.get(text);
      if (found !== undefined) return found;
      if (known.size >= MAX_TARGETS) known.clear();
      const target = parseTarget(text);
      known.set(text, target);
      return target;
    },
  };
}

function parseTarget(text: string): Target {
  const problem = checkHookUrl(text, { httpsOnly: false });
  if (problem !== null) return { problem };
  const url = new URL(text);
  return { origin: url.origin, path: url.pathname + url.search };
}
