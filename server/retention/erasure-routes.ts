import * as contract from "../../contract/erasures.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import { type Api, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import { previewErasure } from "./erasure-preview.ts";
import { findErasure, findErasures, presentErasure, requestErasure } from "./erasures.ts";

const cursorName = "erasures";

/** Forgetting a person: what it would find, the wish, and how far it is. */
export function erasureRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly sealer: Sealer;
    readonly config: Pick<Config, "pageSize">;
  },
): void {
  const { db, config } = deps;

  route(api, contract.erasePerson, async ({ principal, body, request }) =>
    presentErasure(await requestErasure(deps, principal, actorOf(request), body)),
  );
  route(api, contract.previewErasure, ({ principal, body }) => previewErasure(db, principal, body.email));
  route(api, contract.listErasures, async ({ principal, query }) => {
    const rows = await findErasures(db, principal.workspaceId, {
      after: query.cursor === undefined ? null : decodeCursor(cursorName, query.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    return {
      erasures: page.map(presentErasure),
      cursor:
        rows.length > page.length && last !== undefined
          ? encodeCursor(cursorName, { at: last.created_at, id: last.id })
          : null,
    };
  });
  route(api, contract.getErasure, async ({ principal, params }) =>
    presentErasure(await findErasure(db, principal.workspaceId, params.erasure_id)),
  );
}
