import * as contract from "../../contract/stories.ts";
import type { Principal } from "../access/principal.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import { type Api, Ready, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { LinkSigner } from "../links/signer.ts";
import { findMakers, findStoryJson, hasStory, listStoryIds } from "./queries.ts";
import { mayChangeStory, storyNotFound } from "./rights.ts";
import * as service from "./service.ts";
import { storyLinks } from "./story-json.ts";

const cursorName = "stories";

/** The management operations of stories. */
export function storyRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl" | "pageSize">;
  },
): void {
  const { db, signer, config } = deps;

  const readMany = async (principal: Principal, ids: readonly string[]) => {
    const links = storyLinks(signer, config.baseUrl, new Date());
    const found = await findStoryJson(db.pool, ids, principal.sees, links);
    const makers = await findMakers(db.kysely, ids);
    return ids.flatMap((id) => {
      const json = found.get(id);
      if (json === undefined) return [];
      const can_change = mayChangeStory(principal, { created_by: makers.get(id) ?? null });
      // Added to what PostgreSQL wrote, which so needs not be parsed.
      return `${json.slice(0, -1)},${JSON.stringify({ can_change }).slice(1)}`;
    });
  };
  const readOne = async (principal: Principal, storyId: string) => {
    const [json] = await readMany(principal, [storyId]);
    // Also when somebody deleted it right after the change.
    if (json === undefined) throw storyNotFound(storyId);
    return new Ready(json);
  };

  route(api, contract.listStories, async ({ principal, query }) => {
    const rows = await listStoryIds(db.kysely, principal.workspaceId, {
      after: query.cursor === undefined ? null : decodeCursor(cursorName, query.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    const items = await readMany(
      principal,
      page.map((row) => row.id),
    );
    const cursor = rows.length > page.length && last ? `"${encodeCursor(cursorName, last)}"` : "null";
    return new Ready(`{"stories":[${items.join(",")}],"cursor":${cursor}}`);
  });

  route(api, contract.createStory, async ({ principal, body, request }) =>
    readOne(principal, await service.createStory(deps, { principal, actor: actorOf(request) }, body)),
  );

  route(api, contract.getStory, async ({ principal, params }) => {
    if (!(await hasStory(db.kysely, principal.workspaceId, params.story_id)))
      throw storyNotFound(params.story_id);
    return readOne(principal, params.story_id);
  });

  route(api, contract.updateStory, async ({ principal, params, body, request }) => {
    await service.updateStory(deps, { principal, actor: actorOf(request) }, params.story_id, body);
    return readOne(principal, params.story_id);
  });

  route(api, contract.deleteStory, ({ principal, params, request }) =>
    service.deleteStory(db, { principal, actor: actorOf(request) }, params.story_id),
  );
}
