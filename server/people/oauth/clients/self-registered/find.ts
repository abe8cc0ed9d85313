import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../../../../platform/config/config.ts";
import type { Database } from "../../../../platform/db/database.ts";
import { ipPrefixOf } from "../../../../platform/http/limits/ip-prefix.ts";
import type { RateLimiter } from "../../../../platform/http/limits/rate-limit.ts";
import type { Localized } from "../../../../platform/language/i18n.ts";
import { type ClientRow, findClient, isSelfRegistered } from "../queries.ts";
import { isDocumentUrl } from "./document-url.ts";
import type { DocumentFetcher } from "./documents.ts";
import { readMetadata } from "./metadata.ts";
import { saveDocument } from "./store.ts";

/** Fetches of documents a minute for one IP prefix. */
const maxFetchesOfClient = 20;

/**
 * Fetches a minute of one host's documents that are not known yet: many times the limit of one client, which could
 * otherwise block the host's apps for everyone. Documents that were valid before are not counted.
 */
const maxFetchesOfHost = 400;

/** Finds the app of an authorization request; otherwise the reason, for the user. */
export type FindApp = (clientId: string, ip: string) => Promise<ClientRow | Localized>;

const unknown: Localized = (i18n) => i18n.t("The app in this URL is not registered here.");

/**
 * Finds an app by the client_id in an authorization request. A client_id that is a URL is fetched, unless it was fetched
 * recently. A document that can't be fetched any longer refuses the app: it may have withdrawn a redirect URI.
 */
export function createFindApp(deps: {
  readonly db: Database;
  readonly limiter: RateLimiter;
  readonly documents: DocumentFetcher;
  readonly config: Pick<Config, "oauthRegistration" | "oauthRedirectSchemes">;
  readonly log: FastifyBaseLogger;
}): FindApp {
  const { db, limiter, documents, config, log } = deps;

  async function mayFetch(url: string, ip: string, isKnown: boolean): Promise<boolean> {
    const { exceeded } = await limiter.take(`oauth:documents:ip:${ipPrefixOf(ip)}`, maxFetchesOfClient);
    if (exceeded || isKnown) return !exceeded;
    const ofHost = await limiter.take(`oauth:documents:host:${new URL(url).hostname}`, maxFetchesOfHost);
    return !ofHost.exceeded;
  }

  async function fetchApp(url: string, ip: string, isKnown: boolean): Promise<ClientRow | Localized> {
    if (!(await mayFetch(url, ip, isKnown)))
      return (i18n) => i18n.t("Too many apps were looked up. Try again in a minute.");
    // The reason is not shown: with it, anyone could probe hosts and ports from inside the operator's network.
    const refuse = (reason: string): Localized => {
      log.info({ host: new URL(url).host, reason }, "an app's description was refused");
      return (i18n) => i18n.t("The app's description at {url} can't be read.", { url });
    };
    const document = await documents.fetch(url);
    if (!document.ok) return refuse(document.reason);
    const { json, maxAgeSec } = document;
    // Otherwise a page of the host that shows content of others could describe an app under another name.
    if ((json as { client_id?: unknown } | null)?.client_id !== url)
      return refuse("it belongs to another client_id");
    const metadata = readMetadata(json, { isDocument: true, schemes: config.oauthRedirectSchemes });
    if ("code" in metadata) {
      // For the app's developers.
      const problem = metadata.description;
      return (i18n) => i18n.t("The app's description at {url} is invalid: {problem}.", { url, problem });
    }
    return saveDocument(db, url, metadata, new Date(Date.now() + maxAgeSec * 1000));
  }

  return async (clientId, ip) => {
    const client = await findClient(db.kysely, clientId);
    if (client !== undefined && !isSelfRegistered(client)) return client;
    if (!config.oauthRegistration) return unknown;
    if (!isDocumentUrl(clientId)) return client ?? unknown;
    const isFresh = (client?.metadata_expires_at ?? new Date(0)) > new Date();
    return client !== undefined && isFresh ? client : fetchApp(clientId, ip, client !== undefined);
  };
}
