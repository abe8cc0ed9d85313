import type { FastifyReply } from "fastify";
import * as contract from "../../contract/public-links.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { type Api, route } from "../http/route.ts";
import type { LinkSigner } from "../links/signer.ts";
import type { ObjectStore } from "../storage/store.ts";
import { findItems } from "./items.ts";
import { nothingHere, openLink } from "./open.ts";
import { noteOpened } from "./queries.ts";
import { findSpoken } from "./spoken.ts";
import { unlockLink } from "./unlock.ts";
import { viewLink } from "./view.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly config: Pick<Config, "baseUrl">;
}

/** What whoever has the address of a link may ask. */
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
    if (item === undefined) throw nothingHere();
    const segments = await findSpoken(db.pool, item);
    return { entries: segments.map(({ speaker, start, end, text }) => ({ speaker, start, end, text })) };
  });
}

/** No search engine lists what is behind a link, and no address of it is told to others. */
export function keepOut(reply: FastifyReply): void {
  reply.headers({ "x-robots-tag": "noindex, nofollow", "referrer-policy": "no-referrer" });
}
