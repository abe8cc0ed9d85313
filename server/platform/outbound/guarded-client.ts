import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { findJsonExcess, foreignJson } from "../json-limits.ts";
import type { AddressRanges } from "./address-ranges.ts";
import { describeNetworkError, ForbiddenAddressError } from "./errors.ts";
import { createGuardedAgent, type GuardedAgent } from "./guarded-agent.ts";
import { checkHookUrl } from "./target.ts";

/** A request failed before there was a response; the message is for users and names no credentials. */
export class OutboundError extends Error {
  /** Whether it may succeed when repeated. */
  readonly isTemporary: boolean;

  constructor(message: string, isTemporary: boolean) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: "GET" | "POST" | "PROPFIND" | "REPORT";
  /** `authorization` and `x-api-key` are sent to the origin of `url` only, not to where it redirects. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Hosts that are allowed, also after a redirect; a leading dot allows subdomains. Absent: every host. */
  readonly allowHosts?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface OutboundResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Has to be read to its end or destroyed. */
  readonly body: Readable;
}

export interface GuardedClient {
  /** Follows redirects. @throws OutboundError */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

const connectTimeoutMs = 15_000;
/** Between two chunks, and before the first byte of a response, by default. */
const defaultIdleMs = 60_000;
const maxRedirects = 5;

/** Headers with credentials. */
const secretHeaders = new Set(["authorization", "x-api-key"]);

/**
 * An HTTP client for URLs that come from users or other services: connects to allowed IP addresses only, checked again
 * at each redirect, as webhooks do.
 */
export function createGuardedClient({
  allowAddresses,
  idleMs = defaultIdleMs,
}: {
  readonly allowAddresses: AddressRanges;
  readonly idleMs?: number;
}): GuardedClient {
  const agent = createGuardedAgent(
    { allowAddresses, timeoutMs: connectTimeoutMs },
    { headersTimeout: idleMs, bodyTimeout: idleMs, keepAliveTimeout: 2000 },
  );
  return { request: (request) => follow(agent, request), close: agent.close };
}

async function follow(agent: GuardedAgent, request: OutboundRequest): Promise<OutboundResponse> {
  const { origin } = parse(request.url, request.allowHosts);
  let url = request.url;
  let method: Dispatcher.HttpMethod = request.method ?? "GET";
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const target = parse(url, request.allowHosts);
    const { statusCode, headers, body } = await send(
      agent,
      request,
      target,
      method,
      target.origin === origin,
    );
    // An unread body emits an error, which without a listener would end the process.
    body.on("error", () => undefined);
    const { location } = headers;
    if (![301, 302, 303, 307, 308].includes(statusCode) || typeof location !== "string")
      return { status: statusCode, headers, body };
    body.destroy();
    if (!URL.canParse(location, url)) throw new OutboundError(sentences.net_bad_redirect, false);
    url = new URL(location, url).href;
    // Source: RFC 9110, "15.4": a POST may become a GET, and nothing else.
    if (statusCode === 303 || (statusCode < 307 && method === "POST")) method = "GET";
  }
  throw new OutboundError(sentences.net_redirects, false);
}

async function send(
  agent: GuardedAgent,
  request: OutboundRequest,
  target: URL,
  method: Dispatcher.HttpMethod,
  isSameOrigin: boolean,
) {
  const own = Object.entries(request.headers ?? {}).filter(
    ([name]) => isSameOrigin || !secretHeaders.has(name),
  );
  try {
    const undici = await agent.open();
    return await undici.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method,
      headers: { "user-agent": "Parley-Import/1", "accept-encoding": "identity", ...Object.fromEntries(own) },
      ...(request.body === undefined || method === "GET" ? {} : { body: request.body }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
  } catch (error) {
    if (request.signal?.aborted) throw error;
    // A forbidden IP address stays forbidden.
    throw new OutboundError(
      sentenceOf("net_at_host", { host: target.host, reason: describeNetworkError(error as Error) }),
      !(error instanceof ForbiddenAddressError),
    );
  }
}

/** @throws OutboundError when requests may not go there. */
function parse(url: string, allowHosts: readonly string[] | undefined): URL {
  const problem = checkHookUrl(url, { httpsOnly: false });
  if (problem !== null) throw new OutboundError(sentenceOf("net_url", { reason: problem }), false);
  const parsed = new URL(url);
  if (allowHosts !== undefined && !isAllowedHost(parsed.hostname, allowHosts))
    throw new OutboundError(sentenceOf("net_host_not_allowed", { host: parsed.hostname }), false);
  return parsed;
}

function isAllowedHost(host: string, allowed: readonly string[]): boolean {
  return allowed.some((one) => (one.startsWith(".") ? host.endsWith(one) : host === one));
}

/**
 * Reads a body as JSON, and says how long it is.
 * @throws OutboundError when it is longer than `maxBytes`, has more keys or values than `foreignJson` allows, or ends early.
 * @throws SyntaxError when it isn't JSON.
 */
export async function readJson(
  response: OutboundResponse,
  maxBytes: number,
): Promise<{ readonly json: unknown; readonly bytes: number }> {
  const bytes = await readBytes(response, maxBytes);
  if (findJsonExcess(bytes, foreignJson) !== null)
    throw new OutboundError(
      sentenceOf("net_response_json", { values: foreignJson.maxValues, keys: foreignJson.maxKeys }),
      false,
    );
  return { json: JSON.parse(bytes.toString("utf8")), bytes: bytes.length };
}

/** Reads a body. @throws OutboundError when it is longer than `maxBytes` or ends early. */
export async function readBytes({ body }: OutboundResponse, maxBytes: number): Promise<Buffer> {
  // One buffer, because a list of small chunks would take many times their bytes.
  let bytes = Buffer.allocUnsafe(Math.min(maxBytes, 64 * 1024));
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const end = size + chunk.length;
      if (end > bytes.length && end <= maxBytes)
        bytes = Buffer.concat([bytes.subarray(0, size)], Math.min(maxBytes, 2 * end));
      chunk.copy(bytes, size);
      size = end;
      if (size > maxBytes) break;
    }
  } catch (error) {
    throw new OutboundError(describeNetworkError(error as Error), true);
  }
  if (size > maxBytes) throw new OutboundError(sentenceOf("net_response_long", { bytes: maxBytes }), false);
  return bytes.subarray(0, size);
}
