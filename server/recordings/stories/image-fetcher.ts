import type { Agent } from "undici";
import { createGuardedAgent } from "../../platform/outbound/guarded-agent.ts";
import type { GuardedConnectorOptions } from "../../platform/outbound/guarded-connect.ts";
import { checkHookUrl } from "../../platform/outbound/target.ts";

export interface FetchedImage {
  readonly contentType: string;
  readonly bytes: Buffer;
}

export interface ImageFetcher {
  /** @returns null when there is no image at the URL, or it can't be fetched within the bounds. */
  fetch(url: string): Promise<FetchedImage | null>;
  close(): Promise<void>;
}

/** Timeout for lookup, connection, redirects and body together. */
const timeoutMs = 10_000;
export const maxImageBytes = 2 * 1024 * 1024;
const maxRedirects = 3;

/**
 * Fetches images from other sites with the same guard as webhooks: allowed IP addresses only, checked again at each
 * redirect. The format is recognized by the first bytes, because browsers would run scripts in an SVG or a mislabeled page.
 */
export function createImageFetcher(options: {
  readonly allowAddresses: GuardedConnectorOptions["allowAddresses"];
}): ImageFetcher {
  const agent = createGuardedAgent({ ...options, timeoutMs }, { keepAliveTimeout: 1 });
  return {
    async fetch(url) {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return await follow(await agent.open(), url, signal);
      } catch {
        // After any failure the page shows no image.
        return null;
      }
    },
    close: agent.close,
  };
}

async function follow(agent: Agent, from: string, signal: AbortSignal): Promise<FetchedImage | null> {
  let url = from;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    if (checkHookUrl(url, { httpsOnly: false }) !== null) return null;
    const { origin, pathname, search } = new URL(url);
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: "GET",
      headers: { accept: "image/*", "accept-encoding": "identity", "user-agent": "Parley-Images/1" },
      signal,
    });
    const { statusCode, headers, body } = response;
    // An unread body emits an error, which without a listener would end the process.
    body.on("error", () => undefined);
    const location = [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
    if (statusCode === 200 && headers["content-encoding"] === undefined) return readImage(body);
    body.destroy();
    if (typeof location !== "string") return null;
    url = new URL(location, url).href;
  }
  return null;
}

async function readImage(body: AsyncIterable<Buffer>): Promise<FetchedImage | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > maxImageBytes) return null;
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const contentType = imageTypeOf(bytes);
  return contentType === null ? null : { contentType, bytes };
}

/** Image formats without scripts that browsers show, by their signatures. */
export function imageTypeOf(bytes: Buffer): string | null {
  const text = bytes.toString("latin1", 0, 16);
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(text)) return "image/gif";
  if (text.startsWith("RIFF") && text.startsWith("WEBP", 8)) return "image/webp";
  if (/^ftypavi[fs]$/.test(text.slice(4, 12))) return "image/avif";
  return null;
}
