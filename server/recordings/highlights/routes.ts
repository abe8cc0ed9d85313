import { because } from "../../../contract/causes/causes.ts";
import * as contract from "../../../contract/recordings/highlight-operations.ts";
import type { HighlightIncludeInput } from "../../../contract/recordings/highlights.ts";
import { viewerOf } from "../../people/access/viewer.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { readPage, takeUpToTotal, timeCursor } from "../../platform/http/page.ts";
import { type Api, Ready, ReadyPage, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { cutClips, requestClipOf } from "../public-link-records/clips.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import { clipUrl } from "./clip-routes.ts";
import { findListedJson, listAllHighlightIds } from "./list-all.ts";
import { highlightNotFound } from "./not-found.ts";
import { canSeeHighlight, findHighlightJson, highlightLinks, listHighlightIds } from "./queries.ts";
import * as service from "./service.ts";

const cursorFormat = timeCursor("highlights");
const allCursorFormat = timeCursor("all highlights");

/** Most bytes of transcript on a page; a page ends early to stay below it, but has at least one highlight. */
const maxPageLength = 4 * 1024 * 1024;

/** The management API's highlight operations. */
export function highlightRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl" | "pageSize" | "downloadUrlTtlMs">;
    /** Refuses a file when the workspace's storage is full. */
    readonly requireRoom: (tx: Tx, workspaceId: string, bytes: number) => Promise<void>;
  },
): void {
  const { db, signer, config } = deps;

  const readMany = async (principal: Principal, ids: readonly string[], include: HighlightIncludeInput) => {
    const links = highlightLinks(signer, config.baseUrl, viewerOf(principal));
    const found = await findHighlightJson(db.pool, ids, include, links);
    return ids.flatMap((id) => found.get(id) ?? []);
  };
  const readOne = async (principal: Principal, highlightId: string, include: HighlightIncludeInput = {}) => {
    const [json] = await readMany(principal, [highlightId], include);
    // It may have been deleted right after the change.
    if (json === undefined) throw highlightNotFound(highlightId);
    return new Ready(json);
  };

  route(api, contract.listHighlights, async ({ principal, params, query }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    const include = readInclude(query.include);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: (page) =>
        listHighlightIds(db.pool, params.recording_id, {
          ...page,
          withLength: include.transcript === true,
        }),
      // The offset in the recording takes the place of a time.
      positionOf: (row) => ({ at: new Date(row.start_ms), id: row.id }),
      shorten: cutToLength,
    });
    const items = await readMany(
      principal,
      rows.map((row) => row.id),
      include,
    );
    return new ReadyPage(cursor, `"highlights":[${items.join(",")}]`);
  });

  route(api, contract.listAllHighlights, async ({ principal, query }) => {
    const include = readInclude(query.include);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: allCursorFormat,
      fetch: (page) =>
        listAllHighlightIds(db.pool, principal, {
          ...page,
          text: query.text,
          tag: query.tag,
          withLength: include.transcript === true,
        }),
      positionOf: (row) => row,
      shorten: cutToLength,
    });
    const items = await findListedJson(
      db.pool,
      principal,
      rows.map((row) => row.id),
      include,
      highlightLinks(signer, config.baseUrl, viewerOf(principal)),
    );
    return new ReadyPage(cursor, `"highlights":[${items.join(",")}]`);
  });

  route(api, contract.createHighlight, async ({ principal, params, body }) => {
    const id = await service.createHighlight(db, principal, params.recording_id, body);
    return readOne(principal, id, body.include);
  });

  route(api, contract.getHighlight, async ({ principal, params, query }) => {
    if (!(await canSeeHighlight(db.pool, principal, params.highlight_id)))
      throw highlightNotFound(params.highlight_id);
    return readOne(principal, params.highlight_id, readInclude(query.include));
  });

  route(api, contract.updateHighlight, async ({ principal, params, body }) => {
    await cutClips(deps, await service.updateHighlight(db, principal, params.highlight_id, body));
    return readOne(principal, params.highlight_id, body.include);
  });

  route(api, contract.requestClip, async ({ principal, params: { highlight_id: id } }) => {
    if (!(await canSeeHighlight(db.pool, principal, id))) throw highlightNotFound(id);
    const clip = await requestClipOf(deps, principal.userId, id);
    if (clip === undefined) throw new ProblemError("wrong_state", because("no_media_for_clip"));
    const expiresAt = new Date(Date.now() + config.downloadUrlTtlMs);
    return {
      state: clip.state,
      url: clip.state === "ready" ? clipUrl({ signer, config }, id, viewerOf(principal), expiresAt) : null,
      error: clip.error,
    };
  });

  route(api, contract.deleteHighlight, ({ principal, params, request }) =>
    service.deleteHighlight(db, { principal, actor: actorOf(request) }, params.highlight_id),
  );
}

/** Reads the include names of a query, which the schema has validated. */
function readInclude(names: string | undefined): HighlightIncludeInput {
  return Object.fromEntries((names ?? "").split(",").map((name) => [name, true]));
}

function cutToLength<Row extends { readonly transcript_length: number }>(rows: Row[]): Row[] {
  return takeUpToTotal(rows, maxPageLength, (row) => row.transcript_length);
}
