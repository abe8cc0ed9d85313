import type { FastifyReply } from "fastify";
import * as contract from "../../../../contract/sharing/public-links.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { hasVersion } from "../../../platform/http/files/serve-object.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { noteOpened } from "../../../recordings/public-link-records/queries.ts";
import { findItems } from "./items.ts";
import { linkNotFound, openLink } from "./open.ts";
import { unlockLink } from "./unlock.ts";
import { viewLink } from "./view.ts";
import type { SharedWords } from "./words.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly words: SharedWords;
  readonly config: Pick<Config, "baseUrl">;
}

/** The operations for visitors of a public link. */
export function publicLinkPageRoutes(api: Api, deps: Dependencies): void {
  const { db, signer } = deps;
  const opening = { db: db.kysely, signer };
  api.app.addHook("onSend", async (request, reply) => {
    if (request.routeOptions.url?.includes("/shared/")) keepOut(reply);
  });

  route(api, contract.getShared, async ({ params, query }) => {
    const link = await openLink(opening, params.token, query.access);
    await noteOpened(db.kysely, link.id);
    return viewLink(deps, link, query.access);
  });

  route(api, contract.unlockShared, ({ params, body, request }) =>
    unlockLink(deps, request, params.token, body.password),
  );

  route(api, contract.getSharedTranscript, async ({ params, query, request }) => {
    const link = await openLink(opening, params.token, query.access);
    const item = (await findItems(db.kysely, signer, link)).find(({ id }) => id === params.item_id);
    if (item === undefined) throw linkNotFound();
    const etag = `"${deps.words.etagOf(item, "json")}"`;
    if (hasVersion(request, etag)) return new Ready("", { etag }, 304);
    return new Ready(await deps.words.read(item, "json"), { etag });
  });
}

/** Keeps search engines from indexing links, and browsers from sending their URLs to other sites. */
export function keepOut(reply: FastifyReply): void {
  reply.headers({ "x-robots-tag": "noindex, nofollow", "referrer-policy": "no-referrer" });
}
