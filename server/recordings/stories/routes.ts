import * as contract from "../../../contract/recordings/stories.ts";
import { viewerOf } from "../../people/access/viewer.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { readPage, timeCursor } from "../../platform/http/page.ts";
import { type Api, Ready, ReadyPage, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { BannerReader } from "./banner.ts";
import { findMakers, findStoryJson, hasStory, listStoryIds } from "./queries.ts";
import { canChangeStory, storyNotFound } from "./rights.ts";
import * as service from "./service.ts";
import { storyLinks } from "./story-json.ts";

const cursorFormat = timeCursor("stories");

/** The management API's story operations. */
export function storyRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly signer: LinkSigner;
    readonly banners: BannerReader;
    readonly config: Pick<Config, "baseUrl" | "pageSize">;
  },
): void {
  const { db, signer, config } = deps;

  const readMany = async (principal: Principal, ids: readonly string[]) => {
    const links = storyLinks(signer, config.baseUrl, viewerOf(principal));
    const found = await findStoryJson(db.pool, ids, principal.sees, links);
    const makers = await findMakers(db.kysely, ids);
    return ids.flatMap((id) => {
      const json = found.get(id);
      if (json === undefined) return [];
      const can_change = canChangeStory(principal, { created_by: makers.get(id) ?? null });
      // Appended as text, so that the JSON from PostgreSQL need not be parsed.
      return `${json.slice(0, -1)},${JSON.stringify({ can_change }).slice(1)}`;
    });
  };
  const readOne = async (principal: Principal, storyId: string) => {
    const [json] = await readMany(principal, [storyId]);
    // It may have been deleted right after the change.
    if (json === undefined) throw storyNotFound(storyId);
    return new Ready(json);
  };

  route(api, contract.listStories, async ({ principal, query }) => {
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) => listStoryIds(db.kysely, principal.workspaceId, page),
      positionOf: (row) => row,
    });
    const items = await readMany(
      principal,
      rows.map((row) => row.id),
    );
    return new ReadyPage(cursor, `"stories":[${items.join(",")}]`);
  });

  route(api, contract.createStory, async ({ principal, body, request }) =>
    readOne(principal, await service.createStory(deps, { principal, actor: actorOf(request) }, body)),
  );

  route(api, contract.getStory, async ({ principal, params }) => {
    if (!(await hasStory(db.kysely, principal.workspaceId, params.story_id)))
      throw storyNotFound(params.story_id);
    return readOne(principal, params.story_id);
  });

  route(api, contract.getStoryBanner, async ({ principal, params }) => {
    const { story_id: storyId } = params;
    if (!(await hasStory(db.kysely, principal.workspaceId, storyId))) throw storyNotFound(storyId);
    const image = await deps.banners.read(storyId);
    if (image === null) throw new ProblemError("not_found", `story ${storyId} has no banner image`);
    // The page adds the image's own URL as a query, so that a new image has a new URL.
    return new Ready(image.bytes, {
      "content-type": image.contentType,
      "cache-control": "private, max-age=86400",
    });
  });

  route(api, contract.updateStory, async ({ principal, params, body, request }) => {
    await service.updateStory(deps, { principal, actor: actorOf(request) }, params.story_id, body);
    return readOne(principal, params.story_id);
  });

  route(api, contract.deleteStory, ({ principal, params, request }) =>
    service.deleteStory(db, { principal, actor: actorOf(request) }, params.story_id),
  );
}
