import type { FastifyRequest } from "fastify";
import { because } from "../../../contract/causes/causes.ts";
import { toTimestamp } from "../../../contract/common.ts";
import * as contract from "../../../contract/recordings/recording-management.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { readWithinTime } from "../../platform/db/within-time.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { readPage, timeCursor } from "../../platform/http/page.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { type DeletionDeps, deleteRecording } from "./delete.ts";
import { purgeAll, purgeRecording } from "./purge.ts";
import { type ListedTrash, listTrashed, measureTrash } from "./queries.ts";
import { restoreRecording } from "./restore.ts";

const cursorFormat = timeCursor("trash");

/** How long the first page waits for the total. */
const measureMs = 2000;

/** Deletes recordings, and lists, restores and permanently deletes those in the trash (management API). */
export function trashRoutes(
  api: Api,
  {
    db,
    store,
    config,
  }: { readonly db: Database; readonly store: ObjectStore; readonly config: Pick<Config, "pageSize"> },
): void {
  const depsOf = (request: FastifyRequest, recordingId: string | null): DeletionDeps => ({
    db,
    store,
    onError: (error) =>
      request.log.warn(
        { err: error, recordingId },
        "could not remove the files of a deleted recording; the sweep will",
      ),
  });

  route(api, contract.deleteRecording, ({ principal, params: { recording_id: id }, request }) =>
    deleteRecording(depsOf(request, id), principal, id, actorOf(request)),
  );
  route(api, contract.listTrash, async ({ principal, query, request }) => {
    // A total that takes too long or fails is left out rather than the page.
    const measuring =
      query.cursor === undefined
        ? readWithinTime(db.pool, measureMs, (source) => measureTrash(source, principal)).catch(
            (error: unknown) => {
              request.log.warn({ err: error }, "the trash was not measured");
              return null;
            },
          )
        : null;
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) => listTrashed(db.pool, principal, page),
      positionOf: ({ trashed_at: at, id }) => ({ at, id }),
    });
    return { recordings: rows.map(presentTrashed), total: await measuring, cursor };
  });
  route(api, contract.getTrashedRecording, async ({ principal, params: { recording_id: id } }) => {
    const [row] = await listTrashed(db.pool, principal, { after: null, limit: 1 }, id);
    if (row === undefined) throw new ProblemError("not_found", because("trashed_recording_gone", { id }));
    return presentTrashed(row);
  });
  route(api, contract.emptyTrash, ({ principal, body, request }) =>
    purgeAll(
      depsOf(request, null),
      principal,
      actorOf(request),
      body.deleted_before === undefined ? null : new Date(toTimestamp(body.deleted_before)),
    ),
  );
  route(api, contract.restoreRecording, ({ principal, params, request }) =>
    restoreRecording(db, principal, params.recording_id, actorOf(request)),
  );
  route(api, contract.purgeRecording, ({ principal, params: { recording_id: id }, request }) =>
    purgeRecording(depsOf(request, id), principal, id, actorOf(request)),
  );
}

/** A recording in the trash as the API returns it. */
function presentTrashed({ trashed_at, purge_at, start_datetime, ...row }: ListedTrash) {
  return {
    ...row,
    start_datetime: start_datetime.toISOString(),
    deleted_datetime: trashed_at.toISOString(),
    purge_datetime: purge_at.toISOString(),
  };
}
