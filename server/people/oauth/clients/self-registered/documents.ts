import type { Agent } from "undici";
import type { AddressRanges } from "../../../../platform/outbound/address-ranges.ts";
import { describeNetworkError } from "../../../../platform/outbound/errors.ts";
import { createGuardedAgent } from "../../../../platform/outbound/guarded-agent.ts";

/** A fetched document, or why there is none, for the log. */
type FetchedDocument =
  | { readonly ok: true; readonly json: unknown; readonly maxAgeSec: number }
  | { readonly ok: false; readonly reason: string };

/** Fetches client ID metadata documents. */
export interface DocumentFetcher {
  fetch(url: string): Promise<FetchedDocument>;
  close(): Promise<void>;
}

/** For lookup, connection, response and body together: a user is waiting. */
const timeoutMs = 5000;
const maxBytes = 16 * 1024;
/** Fetches at the same time; more are refused, so that slow servers hold up nothing else. */
const maxConcurrency = 20;

/** How long a document is valid, at least and at most. */
const minAgeSec = 300;
const maxAgeSec = 86_400;

/**
 * Fetches the documents of apps with the guard of webhooks, from public IP addresses only: the private ones that webhooks
 * may be sent to are for users, and anyone can ask for a document. Redirects are not followed, and nothing of the response
 * reaches the caller unless it is valid metadata. Source:
 * draft-ietf-oauth-client-id-metadata-document, sections 5 and 6.
 * @param options.allowAddresses IP addresses that are allowed besides the public ones; for tests.
 * @param options.ca certificates to trust in place of the usual ones, as PEM.
 */
export function createDocumentFetcher(options: {
  readonly allowAddresses?: AddressRanges | undefined;
  readonly ca?: string | undefined;
}): DocumentFetcher {
  const { allowAddresses = [], ca } = options;
  const agent = createGuardedAgent({ allowAddresses, ca, timeoutMs }, { keepAliveTimeout: 1 });
  let running = 0;
  return {
    async fetch(url) {
      if (running >= maxConcurrency) return refused("too many apps are being looked up; try again");
      running += 1;
      try {
        return await get(await agent.open(), url);
      } catch (error) {
        return refused(describeNetworkError(error as Error));
      } finally {
        running -= 1;
      }
    },
    close: agent.close,
  };
}

function refused(reason: string): FetchedDocument {
  return { ok: false, reason };
}

async function get(agent: Agent, url: string): Promise<FetchedDocument> {
  const { origin, pathname, search } = new URL(url);
  const { statusCode, headers, body } = await agent.request({
    origin,
    path: pathname + search,
    method: "GET",
    headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": "Parley-OAuth/1" },
    signal: AbortSignal.timeout(timeoutMs),
  });
  // An unread body emits an error, which without a listener would end the process.
  body.on("error", () => undefined);
  const isJson = /^application\/(?:[\w.-]{1,100}\+)?json(?: *;|$)/i.test(
    String(headers["content-type"] ?? ""),
  );
  if (statusCode !== 200 || !isJson) {
    body.destroy();
    return refused(statusCode === 200 ? "it is not JSON" : `its server returned status ${statusCode}`);
  }
  const text = await readUpTo(body);
  if (text === null) return refused(`it is longer than ${maxBytes} bytes`);
  try {
    return { ok: true, json: JSON.parse(text), maxAgeSec: maxAgeOf(headers["cache-control"]) };
  } catch {
    return refused("it is not valid JSON");
  }
}

async function readUpTo(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function maxAgeOf(cacheControl: string | string[] | undefined): number {
  const asked = /\bmax-age=(\d{1,9})\b/i.exec(String(cacheControl ?? ""))?.[1];
  return Math.min(maxAgeSec, Math.max(minAgeSec, Number(asked ?? 0)));
}
