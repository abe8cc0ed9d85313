import { Agent } from "undici";
import type { AddressRanges } from "./addresses.ts";
import { type AnswerCollector, collectAnswer, type HookAnswer } from "./send-answer.ts";
import { createGuardedConnector, type HookLookup } from "./send-connect.ts";
import { checkHookUrl } from "./target.ts";
import { createUnderway } from "./underway.ts";

export type { HookAnswer } from "./send-answer.ts";

/**
 * Sends hooks: with send-connect.ts all of this folder that touches the network. A request is one POST on a connection to an allowed address
 * (send-connect.ts): no redirect is followed, no proxy setting of the environment is heeded, and time and size of the
 * answer are bounded.
 */

export interface HookRequest {
  /** As `checkHookUrl` accepts it. */
  readonly url: string;
  /** In lower case. Those that are the same for every hook cannot be replaced. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** For the whole attempt: lookup, connection, request and answer. */
  readonly timeoutMs?: number;
  /** Ends the attempt early. */
  readonly signal?: AbortSignal;
}

export interface HookSender {
  /** Never rejects: every fault is an answer with an `error`. */
  send(request: HookRequest): Promise<HookAnswer>;
  /** Connections that are open or being made, also those kept for the next request. */
  connections(): number;
  /** Stops what is under way and closes every connection. Wait for the answers that matter first. */
  close(): Promise<void>;
}

export interface HookSenderOptions {
  /** Ranges that are allowed although they are not public. */
  readonly allowAddresses: AddressRanges;
  /** Design: success is a 2xx within 15 s. */
  readonly timeoutMs?: number;
  /** How much of a body is read. */
  readonly maxAnswerBytes?: number;
  /** Certificates to trust in place of the usual ones, as PEM. */
  readonly ca?: string | undefined;
  /** How names are looked up; the system's way when left out. */
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

/** With more connections than this a request's connection is not kept: 100,000 receivers must not hold a socket each. */
const MAX_KEPT_CONNECTIONS = 512;

/** After so many requests a connection is replaced, so that a new address of the name is noticed under load too. */
const REQUESTS_PER_CONNECTION = 1000;

/** Makes a sender with connections of its own. End it with `close`. */
export function createHookSender(options: HookSenderOptions): HookSender {
  const { timeoutMs = 15_000, maxAnswerBytes = 20_480, keepAliveMs = 4000 } = options;
  const connector = createGuardedConnector({ ...options, timeoutMs });
  const agent = new Agent({
    connect: connector.connect,
    allowH2: false,
    // No bound: callers bound how much runs for one hook. Many hooks may share an origin, and a request would wait
    // here for a connection that a hook that hangs has.
    connections: null,
    pipelining: 1,
    maxRequestsPerClient: REQUESTS_PER_CONNECTION,
    // Shorter than what servers keep to (5 s and up); a receiver may ask for other times, within bounds.
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: 2.5 * keepAliveMs,
    maxHeaderSize: 16 * 1024,
    // An attempt has one limit for everything, kept below.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const targets = createTargets();
  const underway = createUnderway<AnswerCollector>();
  let isClosed = false;

  function send(request: HookRequest): Promise<HookAnswer> {
    return new Promise((resolve) => {
      const answer = collectAnswer(maxAnswerBytes, resolve);
      const target = targets.of(request.url);
      if ("problem" in target) return answer.fail(`the URL ${target.problem}`);
      if (isClosed || request.signal?.aborted) return answer.stop();
      const limitMs = request.timeoutMs ?? timeoutMs;
      const timer = setTimeout(() => answer.timeOut(limitMs), limitMs);
      request.signal?.addEventListener("abort", answer.stop);
      const over = underway.add(answer);
      answer.whenOver(() => {
        clearTimeout(timer);
        request.signal?.removeEventListener("abort", answer.stop);
        over();
      });
      agent.dispatch(
        {
          origin: target.origin,
          path: target.path,
          method: "POST",
          headers: { ...request.headers, ...fixedHeaders },
          body: request.body,
          ...(connector.count() >= MAX_KEPT_CONNECTIONS ? { reset: true } : {}),
        },
        answer.handler,
      );
    });
  }

  return {
    send,
    connections: connector.count,
    close: async () => {
      isClosed = true;
      for (const answer of underway.items()) answer.stop();
      await Promise.all([agent.destroy(), connector.close()]);
    },
  };
}

type Target = { readonly origin: string; readonly path: string } | { readonly problem: string };

/** How many parsed URLs are kept: parsing and checking takes a tenth of the time of a request. */
const MAX_TARGETS = 1000;

/** Checks and takes apart the URLs of requests. */
function createTargets(): { of(url: string): Target } {
  const known = new Map<string, Target>();
  return {
    of: (text) => {
      const found = known.get(text);
      if (found !== undefined) return found;
      if (known.size >= MAX_TARGETS) known.clear();
      const target = takeApart(text);
      known.set(text, target);
      return target;
    },
  };
}

function takeApart(text: string): Target {
  const problem = checkHookUrl(text, { httpsOnly: false });
  if (problem !== null) return { problem };
  const url = new URL(text);
  return { origin: url.origin, path: url.pathname + url.search };
}
