import type { z } from "zod";
import * as contract from "../../../../contract/webhooks/events.ts";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import {
  type DeliverySubject,
  type HookContext,
  type PayloadDependencies,
  renderPayloads,
} from "../dispatch/render-payload.ts";
import { decodeFeedCursor, encodeFeedCursor, type FeedPosition } from "./cursor.ts";
import { type FeedPage, type FeedRow, readFeed } from "./queries.ts";

/** The feed of events: what webhooks would send, to be polled. */
export function feedRoutes(api: Api, deps: PayloadDependencies): void {
  route(api, contract.listEvents, async ({ principal, query }) => {
    const now = new Date();
    const after = query.cursor === undefined ? "0" : decodeFeedCursor(query.cursor, now);
    const limit = Number(query.limit ?? contract.defaultFeedPage);
    const types = (query.types?.split(",") as HookType[] | undefined) ?? null;
    // One more than the page shows whether there is a next one.
    const page = await readFeed(deps.db.pool, principal, { after, types, limit: limit + 1 });
    const rows = page.rows.slice(0, limit);
    const { end, hasMore } = endOf(page, rows, after);
    return {
      events: await presentEvents(deps, principal, rows),
      cursor: encodeFeedCursor(end, now),
      has_more: hasMore,
    };
  });
}

/** Where the next page begins: a page whose events were mostly skipped advances too. */
function endOf(
  page: FeedPage,
  shown: readonly FeedRow[],
  after: string,
): { end: FeedPosition; hasMore: boolean } {
  const last = shown.at(-1);
  if (last !== undefined && page.rows.length > shown.length)
    return { end: { position: last.feed_id, occurredAt: last.occurred_at }, hasMore: true };
  const position = page.scanned?.feed_id ?? after;
  return page.isCut
    ? { end: { position, occurredAt: page.scanned?.occurred_at ?? null }, hasMore: true }
    : { end: { position, occurredAt: null }, hasMore: false };
}

/** With the data that a hook without include would get; only the id of a deleted subject. */
async function presentEvents(
  deps: PayloadDependencies,
  principal: Principal,
  rows: readonly FeedRow[],
): Promise<z.input<typeof contract.Event>[]> {
  const bodies = new Map<string, string | null>();
  for (const [type, events] of Map.groupBy(rows, (row) => row.type)) {
    for (const [id, body] of await renderPayloads(deps, hookOf(principal, type), events.map(toDelivery)))
      bodies.set(id, body);
  }
  return rows.map((row) => {
    const body = bodies.get(row.feed_id);
    return {
      id: row.event_id,
      type: row.type,
      occurred_datetime: row.occurred_at.toISOString(),
      data: body ? JSON.parse(body).data : { id: row.subject_id },
    };
  });
}

/** A hook without include. */
function hookOf(principal: Principal, type: HookType): HookContext {
  return {
    hook_type: type,
    include: {},
    scope: principal.scope,
    created_by: principal.userId,
    workspace_id: principal.workspaceId,
  };
}

function toDelivery(row: FeedRow): DeliverySubject {
  return {
    id: row.feed_id,
    event_type: row.type,
    subject_id: row.subject_id,
    data: JSON.stringify(row.data),
  };
}
