import * as contract from "../../../../contract/governance/erasures.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { readPage, timeCursor } from "../../../platform/http/page.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { findErasure, findErasures, presentErasure, requestErasure } from "./erasures.ts";
import { previewErasure } from "./preview.ts";

const cursorFormat = timeCursor("erasures");

/** Erasing personal data: preview, request and progress. */
export function erasureRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "pageSize">;
  },
): void {
  const { db, config } = deps;

  route(api, contract.erasePersonalData, async ({ principal, body, request }) =>
    presentErasure(await requestErasure(deps, principal, actorOf(request), body)),
  );
  route(api, contract.previewErasure, ({ principal, body }) => previewErasure(db, principal, body.email));
  route(api, contract.listErasures, async ({ principal, query }) => {
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) => findErasures(db, principal.workspaceId, page),
      positionOf: ({ created_at: at, id }) => ({ at, id }),
    });
    return { erasures: rows.map(presentErasure), cursor };
  });
  route(api, contract.getErasure, async ({ principal, params }) =>
    presentErasure(await findErasure(db, principal.workspaceId, params.erasure_id)),
  );
}
