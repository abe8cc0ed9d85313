import type pg from "pg";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
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
 * Finds the due deliveries of a leased hook, first attempts in the order of events. A first attempt waits while another hook
 * with the same URL, which is not failing, has yet to try an earlier event of the same subject: a receiver with a hook for
 * each type gets them in order. A disabled hook has none.
 */
export async function findDue(
  pool: pg.Pool,
  hookId: string,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<DueDelivery[]> {
  const { rows } = await pool.query<DueDelivery>({
    name: "due_deliveries",
    text: `select d.id, d.message_id, d.event_type, d.subject_id, d.recording_id, d.payload, d.attempts,
        d.attempts_before, e.data::text as data, ${canReceive("d")} and not ${isRestored} as can_receive
      from hooks h
        join workspaces w on w.id = h.workspace_id
        cross join lateral (
          select array_agg(h2.id) as ids from hooks h2
          where h2.workspace_id = h.workspace_id and h2.hook_url = h.hook_url and h2.id <> h.id
            and ${isOn("h2")} and h2.failing_since is null
        ) siblings
        cross join lateral (
          select * from deliveries d
          where d.hook_id = h.id and d.state = 'pending' and d.due_at <= $2
            and (siblings.ids is null or d.attempts > 0 or not exists (
              select 1 from deliveries d2 where d2.hook_id = any(siblings.ids)
                and d2.state = 'pending' and d2.attempts = 0
                and d2.subject_id = d.subject_id and d2.event_id < d.event_id))
          order by d.due_at, d.id limit $3
        ) d
        left join events e on e.id = d.event_id
      where h.id = $1 and ${isOn("h")}
      order by d.due_at, d.id`,
    values: [hookId, now, limit],
  });
  return rows;
}
