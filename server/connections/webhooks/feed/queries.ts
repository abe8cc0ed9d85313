import type pg from "pg";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
import type { Principal } from "../../../platform/auth/principal.ts";

/** An event of the feed. */
export interface FeedRow {
  readonly feed_id: string;
  readonly event_id: string;
  readonly type: HookType;
  readonly subject_id: string;
  readonly recording_id: string | null;
  readonly data: Record<string, unknown>;
  readonly occurred_at: Date;
}

/** A page of the feed as it was found. */
export interface FeedPage {
  readonly rows: FeedRow[];
  /** The last event that was scanned; null if the page is full, or there were none. */
  readonly scanned: { readonly feed_id: string; readonly occurred_at: Date } | null;
  /** Whether the scan ended before the events did. */
  readonly isCut: boolean;
}

/** Events scanned for one page, however few of them the caller can see. */
export const scanLimit = 5000;

/**
 * Reads events in the order of the feed. Positions are assigned by one process at a time, each transaction after the commit of
 * the one before, so no event appears later before one that was read. One statement sees one snapshot, so the position to
 * resume from belongs to exactly the events that were scanned.
 * @param page.limit one more than the page, which shows whether there is a next one.
 */
export async function readFeed(
  pool: pg.Pool,
  principal: Principal,
  page: { readonly after: string; readonly types: readonly HookType[] | null; readonly limit: number },
): Promise<FeedPage> {
  const { rows } = await pool.query<FeedRow & { scanned_to: string | null; scanned_at: Date; count: number }>(
    {
      name: "feed",
      text: `with seen as materialized (
          select e.position as feed_id, e.event_id, e.type, e.subject_id, e.recording_id, e.data, e.occurred_at
          from (select p.position, ev.* from feed_positions p join events ev on ev.id = p.event_id
            where p.workspace_id = $1 and p.position > $2::bigint order by p.position limit ${scanLimit}) e
          where ($3::text[] is null or e.type = any($3))
            and ($4::uuid[] is null or case
              when e.audience is not null then e.audience && $4
              when e.recording_id is not null then exists (
                select 1 from recording_grants g
                where g.recording_id = e.recording_id and g.principal_id = any($4))
              else true end)
          order by e.position limit $5
        ), scanned as (
          select max(position) as scanned_to, max(occurred_at) as scanned_at, count(*)::integer as count
          from (select p.position, ev.occurred_at from feed_positions p join events ev on ev.id = p.event_id
            where p.workspace_id = $1 and p.position > $2::bigint and (select count(*) from seen) < $5
            order by p.position limit ${scanLimit}) all_of_them
        )
        select * from scanned left join seen on true order by feed_id`,
      values: [
        principal.workspaceId,
        page.after,
        page.types,
        // A workspace token reads everything.
        principal.scope === "workspace" ? null : principal.sees,
        page.limit,
      ],
    },
  );
  const scan = rows[0];
  return {
    rows: rows.filter((row) => row.feed_id !== null),
    scanned: scan?.scanned_to ? { feed_id: scan.scanned_to, occurred_at: scan.scanned_at } : null,
    isCut: scan?.count === scanLimit,
  };
}
