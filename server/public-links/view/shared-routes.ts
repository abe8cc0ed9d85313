import type { FastifyReply } from "fastify";
import * as contract from "../../../contract/public-links.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { noteOpened } from "../../public-link-records/queries.ts";
import { jsonOf, toBytes } from "../../recordings/transcript/text-slices.ts";
import { findItems } from "./items.ts";
import { linkNotFound, openLink } from "./open.ts";
import { findExcerpt } from "./transcript-excerpt.ts";
import { unlockLink } from "./unlock.ts";
import { viewLink } from "./view.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
}

/** The operations for visitors of a public link. */
export function sharedRoutes(api: Api, deps: Dependencies): void {
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

  route(api, contract.getSharedTranscript, async ({ params, query }) => {
    const link = await openLink(opening, params.token, query.access);
    const item = (await findItems(db.kysely, signer, link)).find(({ id }) => id === params.item_id);
    if (item === undefined) throw linkNotFound();
    const segments = await findExcerpt(db.pool, item);
    const entries = segments.map(({ speaker, start, end, text }) => ({ speaker, start, end, text }));
    return new Ready(await toBytes(['{"entries":', ...jsonOf(entries), "}"]));
  });
}

/** Keeps search engines from indexing links, and browsers from sending their URLs to other sites. */
export function keepOut(reply: FastifyReply): void {
  reply.headers({ "x-robots-tag": "noindex, nofollow", "referrer-policy": "no-referrer" });
}
