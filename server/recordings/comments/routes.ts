import * as contract from "../../../contract/recordings/comments.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { readPage, takeUpToTotal, timeCursor } from "../../platform/http/page.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import { findComments, listCommentIds } from "./queries.ts";
import * as service from "./service.ts";

const cursorFormat = timeCursor("comments");

/** Most characters of text on a page. */
const maxPageLength = 500_000;

/** Comments on recordings. */
export function commentRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "pageSize"> },
): void {
  const readOne = async (id: string) => {
    const comment = (await findComments(db.pool, [id])).get(id);
    // It may have been deleted right after the change.
    if (comment === undefined) throw service.commentNotFound(id);
    return comment;
  };

  route(api, contract.listComments, async ({ principal, params, query }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) => listCommentIds(db.pool, params.recording_id, page),
      positionOf: (row) => row,
      shorten: (found) => takeUpToTotal(found, maxPageLength, ({ length }) => length),
    });
    const ids = rows.map(({ id }) => id);
    const found = await findComments(db.pool, ids);
    return { comments: ids.flatMap((id) => found.get(id) ?? []), cursor };
  });

  route(api, contract.createComment, async ({ principal, params, body, request }) =>
    readOne(
      await service.createComment(db, { principal, actor: actorOf(request) }, params.recording_id, body),
    ),
  );
  route(api, contract.updateComment, async ({ principal, params, body, request }) => {
    await service.updateComment(db, { principal, actor: actorOf(request) }, params.comment_id, body);
    return readOne(params.comment_id);
  });
  route(api, contract.deleteComment, ({ principal, params, request }) =>
    service.deleteComment(db, { principal, actor: actorOf(request) }, params.comment_id),
  );
  route(api, contract.resolveComment, async ({ principal, params, body }) =>
    readOne(await service.resolveComment(db, principal, params.comment_id, body.resolved)),
  );
  route(api, contract.addReaction, async ({ principal, params }) => {
    await service.react(db, principal, params, true);
    return readOne(params.comment_id);
  });
  route(api, contract.removeReaction, async ({ principal, params }) => {
    await service.react(db, principal, params, false);
    return readOne(params.comment_id);
  });
}
