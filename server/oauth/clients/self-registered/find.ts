import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import type { RateLimiter } from "../../../platform/http/limits/rate-limit.ts";
import { type ClientRow, findClient, isSelfRegistered } from "../queries.ts";
import { isDocumentUrl } from "./document-url.ts";
import type { DocumentFetcher } from "./documents.ts";
import { readMetadata } from "./metadata.ts";
import { saveDocument } from "./store.ts";

/** Fetches of documents a minute, for one IP prefix and of one host. */
const maxFetches = 20;

/** Finds the app of an authorization request; otherwise the reason, for the user. */
export type FindApp = (clientId: string, ip: string) => Promise<ClientRow | string>;

const unknown = "The app in this URL is not registered here.";

/**
 * Finds an app by the client_id in an authorization request. A client_id that is a URL is fetched, unless it was fetched
 * recently. A document that can't be fetched any longer refuses the app: it may have withdrawn a redirect URI.
 */
export function createFindApp(deps: {
  readonly db: Database;
  readonly limiter: RateLimiter;
  readonly documents: DocumentFetcher;
  readonly config: Pick<Config, "oauthRegistration">;
}): FindApp {
  const { db, limiter, documents, config } = deps;

  async function fetchApp(url: string, ip: string): Promise<ClientRow | string> {
    for (const key of [`ip:${ipPrefixOf(ip)}`, `host:${new URL(url).hostname}`])
      if ((await limiter.take(`oauth:documents:${key}`, maxFetches)).exceeded)
        return "Too many apps were looked up. Try again in a minute.";
    const document = await documents.fetch(url);
    if (!document.ok) return `The app's description at ${url} can't be read: ${document.reason}.`;
    const { json, maxAgeSec } = document;
    // Otherwise a page of the host that shows content of others could describe an app under another name.
    if ((json as { client_id?: unknown } | null)?.client_id !== url)
      return `The app's description at ${url} belongs to another client_id.`;
    const metadata = readMetadata(json, true);
    if ("code" in metadata) return `The app's description at ${url} is invalid: ${metadata.description}.`;
    return saveDocument(db, url, metadata, new Date(Date.now() + maxAgeSec * 1000));
  }

  return async (clientId, ip) => {
    const client = await findClient(db.kysely, clientId);
    if (client !== undefined && !isSelfRegistered(client)) return client;
    if (!config.oauthRegistration) return unknown;
    if (!isDocumentUrl(clientId)) return client ?? unknown;
    const isFresh = (client?.metadata_expires_at ?? new Date(0)) > new Date();
    return client !== undefined && isFresh ? client : fetchApp(clientId, ip);
  };
}
