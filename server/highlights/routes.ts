import { listAllHighlights } from "../../contract/highlight-list.ts";
import * as contract from "../../contract/highlight-operations.ts";
import type { HighlightIncludeInput } from "../../contract/highlights.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import { type Api, Ready, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { LinkSigner } from "../links/signer.ts";
import { cutClips } from "../public-links/service.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import { findListedJson, listAllHighlightIds } from "./list-all.ts";
import { canSeeHighlight, findHighlightJson, highlightLinks, listHighlightIds } from "./queries.ts";
import { highlightNotFound } from "./rights.ts";
import * as service from "./service.ts";

const cursorName = "highlights";
const allCursorName = "all highlights";

/** A page with transcripts ends early rather than grow beyond this, unless its first highlight alone does. */
const maxPageLength = 4 * 1024 * 1024;

/** The management operations of highlights. */
export function highlightRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl" | "pageSize">;
  },
): void {
  const { db, signer, config } = deps;

  const readMany = async (ids: readonly string[], include: HighlightIncludeInput) => {
    const links = highlightLinks(signer, config.baseUrl, new Date());
    const found = await findHighlightJson(db.pool, ids, include, links);
    return ids.flatMap((id) => found.get(id) ?? []);
  };
  const readOne = async (highlightId: string, include: HighlightIncludeInput = {}) => {
    const [json] = await readMany([highlightId], include);
    // Also when somebody deleted it right after the change.
    if (json === undefined) throw highlightNotFound(highlightId);
    return new Ready(json);
  };

  route(api, contract.listHighlights, async ({ principal, params, query }) => {
    if (!(await canSeeRecording(db.pool, principal, params.recording_id)))
      throw recordingNotFound(params.recording_id);
    const include = readInclude(query.include);
    const rows = await listHighlightIds(db.pool, params.recording_id, {
      after: query.cursor === undefined ? null : decodeCursor(cursorName, query.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
      withLength: include.transcript === true,
    });
    const page = cutToLength(rows.slice(0, config.pageSize));
    const last = page.at(-1);
    const items = await readMany(
      page.map((row) => row.id),
      include,
    );
    // The place in the recording takes the place of a time.
    const next = rows.length > page.length && last ? { at: new Date(last.start_ms), id: last.id } : null;
    const cursor = next === null ? "null" : `"${encodeCursor(cursorName, next)}"`;
    return new Ready(`{"highlights":[${items.join(",")}],"cursor":${cursor}}`);
  });

  route(api, listAllHighlights, async ({ principal, query }) => {
    const include = readInclude(query.include);
    const rows = await listAllHighlightIds(db.pool, principal, {
      after: query.cursor === undefined ? null : decodeCursor(allCursorName, query.cursor),
      limit: config.pageSize + 1,
      text: query.text,
      tag: query.tag,
      withLength: include.transcript === true,
    });
    const page = cutToLength(rows.slice(0, config.pageSize));
    const last = page.at(-1);
    const items = await findListedJson(
      db.pool,
      principal,
      page.map((row) => row.id),
      include,
      highlightLinks(signer, config.baseUrl, new Date()),
    );
    const cursor = rows.length > page.length && last ? `"${encodeCursor(allCursorName, last)}"` : "null";
    return new Ready(`{"highlights":[${items.join(",")}],"cursor":${cursor}}`);
  });

  route(api, contract.createHighlight, async ({ principal, params, body }) => {
    const id = await service.createHighlight(db, principal, params.recording_id, body);
    return readOne(id, body.include);
  });

  route(api, contract.getHighlight, async ({ principal, params, query }) => {
    if (!(await canSeeHighlight(db.pool, principal, params.highlight_id)))
      throw highlightNotFound(params.highlight_id);
    return readOne(params.highlight_id, readInclude(query.include));
  });

  route(api, contract.updateHighlight, async ({ principal, params, body }) => {
    await cutClips(deps, await service.updateHighlight(db, principal, params.highlight_id, body));
    return readOne(params.highlight_id, body.include);
  });

  route(api, contract.deleteHighlight, ({ principal, params, request }) =>
    service.deleteHighlight(db, { principal, actor: actorOf(request) }, params.highlight_id),
  );
}

/** Reads the names in an address; the schema has checked them. */
function readInclude(names: string | undefined): HighlightIncludeInput {
  return Object.fromEntries((names ?? "").split(",").map((name) => [name, true]));
}

function cutToLength<Row extends { readonly transcript_length: number }>(
  rows: readonly Row[],
): readonly Row[] {
  let total = 0;
  const end = rows.findIndex((row, index) => {
    total += row.transcript_length;
    return index > 0 && total > maxPageLength;
  });
  return end === -1 ? rows : rows.slice(0, end);
}
