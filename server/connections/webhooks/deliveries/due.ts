import type pg from "pg";
import type { HookType } from "../../../../contract/webhooks/hooks.ts";
import { isOn } from "../api/queries.ts";
import { canReceive } from "./can-receive.ts";

/** A delivery that is due, with what is needed to render and send it. */
export interface DueDelivery {
  readonly id: string;
  readonly message_id: string;
  readonly event_type: HookType;
  readonly subject_id: string;
  readonly recording_id: string | null;
  /** As it was sent before; null before the first attempt. */
  readonly payload: string | null;
  readonly attempts: number;
  /** Attempts made before a user last resent it. */
  readonly attempts_before: number;
  /** The event's data as JSON; null: the event was deleted, or there was none. */
  readonly data: string | null;
  /** Whether the hook's owner can see the subject now; for a deletion, whether it was not undone. */
  readonly can_receive: boolean;
  readonly due_at: Date;
  /** Whether other hooks have the same URL, which may hold back first attempts of this one. */
  readonly has_siblings: boolean;
}

/** Whether anything is due for a hook, including what `findDue` holds back. */
export async function hasDue(pool: pg.Pool, hookId: string, now: Date): Promise<boolean> {
  const { rows } = await pool.query({
    name: "has_due",
    text: "select 1 from deliveries where hook_id = $1 and state = 'pending' and due_at <= $2 limit 1",
    values: [hookId, now],
  });
  return rows.length > 0;
}

/** The order of ids, which are integers as strings. */
function compareIds(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id.length - other.id.length || (one.id < other.id ? -1 : Number(one.id > other.id));
}

/** The order of `findDue`: negative if one delivery of a hook comes before another. */
export function compareDue(one: DueDelivery, other: DueDelivery): number {
  return one.due_at.getTime() - other.due_at.getTime() || compareIds(one, other);
}

/** Asks for the due deliveries of one hook. */
export interface DueRequest {
  readonly hookId: string;
  readonly now: Date;
  /** Deliveries that are in flight or whose results are being saved, and therefore still look due. */
  readonly except: readonly string[];
  /** Where an earlier request ended. Only later deliveries are read, without going through the index entries before it. */
  readonly after: DueDelivery | null;
  readonly limit: number;
}

/**
 * SQL: whether delivery `d` reports a deletion that was undone: what was deleted has been restored from the trash and
 * reported as new, which a late retry of the deletion would contradict.
 */
const isRestored = `(
  case d.event_type
    when 'recording_deleted' then exists (select 1 from recordings r where r.id = d.subject_id)
    when 'highlight_deleted' then exists (select 1 from highlights x where x.id = d.subject_id)
    else false
  end and not exists (select 1 from trashed_recordings t where t.recording_id = d.recording_id))`;

/**
 * Finds the due deliveries of many hooks in one statement, first attempts in the order of events. A first attempt waits while
 * another hook with the same URL, which is not failing, has yet to try an earlier event of the same subject: a receiver with
 * a hook for each type gets them in order.
 * @returns for each request its deliveries.
 */
export async function findDue(pool: pg.Pool, requests: readonly DueRequest[]): Promise<DueDelivery[][]> {
  const { rows } = await pool.query<DueDelivery & { readonly request: number }>({
    name: "due_deliveries",
    text: `select r.request::integer - 1 as request, d.id, d.message_id, d.event_type, d.subject_id, d.recording_id,
        d.payload, d.attempts, d.attempts_before, d.due_at, e.data::text as data, ${canReceive("d")} and not ${isRestored} as can_receive,
        siblings.ids is not null as has_siblings
      from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::integer[])
          with ordinality r (hook_id, now, after_at, after_id, max_count, request)
        -- Not of a disabled hook: its worker learns of that only seconds later.
        join hooks h on h.id = r.hook_id and ${isOn("h")}
        join workspaces w on w.id = h.workspace_id
        cross join lateral (
          select array_agg(h2.id) as ids from hooks h2
          where h2.workspace_id = h.workspace_id and h2.hook_url = h.hook_url and h2.id <> h.id
            and ${isOn("h2")} and h2.failing_since is null
        ) siblings
        cross join lateral (
          select * from deliveries d
          where d.hook_id = r.hook_id and d.state = 'pending' and d.due_at <= r.now and d.id <> all($6::bigint[])
            and (d.due_at, d.id) > (r.after_at, r.after_id)
            and (siblings.ids is null or d.attempts > 0 or not exists (
              select 1 from deliveries d2 where d2.hook_id = any(siblings.ids)
                and d2.state = 'pending' and d2.attempts = 0
                and d2.subject_id = d.subject_id and d2.event_id < d.event_id))
          order by d.due_at, d.id limit r.max_count
        ) d
        left join events e on e.id = d.event_id`,
    values: [
      requests.map(({ hookId }) => hookId),
      requests.map(({ now }) => now),
      requests.map(({ after }) => after?.due_at ?? "-infinity"),
      requests.map(({ after }) => after?.id ?? "0"),
      requests.map(({ limit }) => limit),
      requests.flatMap(({ except }) => except),
    ],
  });
  const found = requests.map((): DueDelivery[] => []);
  for (const { request, ...delivery } of rows) found[request]?.push(delivery);
  return found.map((due) => due.sort(compareDue));
}
