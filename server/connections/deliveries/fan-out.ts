import type pg from "pg";
import type { HookType } from "../../../contract/webhooks/hook-types.ts";
import { inWork } from "../../recordings/recordings/announce.ts";
import { isOn } from "../webhooks/api/queries.ts";
import { canReceive } from "../webhooks/deliveries/can-receive.ts";
import type { AddDeliveries } from "../webhooks/deliveries/fan-out.ts";
import { hasContent, isNews, isPresent, meetsConditions } from "./matching.ts";

/** What changes a file. */
const fileEvents: readonly HookType[] = [
  "recording_added",
  "recording_updated",
  "recording_deleted",
  "highlight_added",
  "highlight_updated",
  "highlight_deleted",
];

/**
 * Finds who gets a delivery of events that make a recording ready, or let it meet the conditions, unless it has one already:
 * delivered_recordings has each recording once, and is written in the same transaction. While a model is at work, the
 * delivery waits (send.ts), because a model that fails reports no event.
 * A Markdown file has a delivery for every change, and compares.
 */
export async function addRecordingDeliveries(
  client: pg.PoolClient,
  eventIds: readonly string[],
): ReturnType<AddDeliveries> {
  const { rows } = await client.query<{ hook_id: string; event_id: string }>({
    name: "fan_out_deliveries",
    text: `with wanted as (
        select distinct on (h.id, r.id) h.id as hook_id, e.id, r.id as recording_id
        from events e
          join hooks h on h.workspace_id = e.workspace_id and h.hook_type = 'delivery'
          join destinations t on t.hook_id = h.id
          join workspaces w on w.id = h.workspace_id
          join recordings r on r.id = e.recording_id
        where e.id = any($1::bigint[]) and e.type in ('recording_added', 'recording_updated') and ${isOn("h")}
          and t.kind <> 'markdown'
          and ${isPresent} and ${canReceive("e")} and ${isNews} and ${meetsConditions}
          and (${inWork} or ${hasContent})
        order by h.id, r.id, e.id
      ), first as (
        insert into delivered_recordings (recording_id, hook_id)
        select recording_id, hook_id from wanted order by recording_id, hook_id
        on conflict do nothing returning recording_id, hook_id
      ), files as (
        -- Every change, and the end of a recording that has a file.
        select distinct on (h.id, e.recording_id) h.id as hook_id, e.id, e.recording_id
        from events e
          join hooks h on h.workspace_id = e.workspace_id and h.hook_type = 'delivery'
          join destinations t on t.hook_id = h.id
          join workspaces w on w.id = h.workspace_id
          left join recordings r on r.id = e.recording_id
        where e.id = any($1::bigint[]) and e.type = any($2) and ${isOn("h")} and t.kind = 'markdown' and (
          (${isPresent} and ${canReceive("e")} and ${meetsConditions} and (${inWork} or ${hasContent}))
          or exists (select 1 from written_files f where f.hook_id = h.id and f.recording_id = e.recording_id))
        order by h.id, e.recording_id, e.id desc
      )
      select hook_id, id as event_id from wanted join first using (recording_id, hook_id)
      union all select hook_id, id from files`,
    values: [eventIds, fileEvents],
  });
  return rows;
}
