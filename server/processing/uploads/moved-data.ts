import { randomUUID, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import type { MovedData } from "../../platform/db/json-columns.ts";
import type { NewParticipant } from "../../recordings/recordings/create.ts";
import type { UploadRow } from "./queries.ts";

/** Writes what a recording brings from another installation, before its grants and its event. */
export async function applyMovedData(
  tx: Tx,
  upload: Pick<UploadRow, "workspace_id">,
  recordingId: string,
  moved: MovedData,
  people: readonly NewParticipant[],
): Promise<void> {
  const items = moved.ai_action_items.map(({ status, timestamp, text, assignee }) => ({
    ...{ id: randomUUID(), status, timestamp, text },
    quote: "",
    assignee_id: people[assignee ?? -1]?.id ?? null,
  }));
  const json = (list: readonly object[]) => (list.length === 0 ? null : JSON.stringify(list));
  await sql`
    update recordings set
      -- One that was deleted meanwhile is not chosen.
      meeting_type_id = (select id from meeting_types where id = ${moved.meeting_type_id}::uuid for key share),
      meeting_type_by_hand = ${moved.meeting_type_by_hand},
      ai_summary = ${moved.ai_summary},
      ai_action_items = ${json(items)}::jsonb,
      ai_template_sections = ${json(moved.ai_template_sections)}::jsonb
    where id = ${recordingId}`.execute(tx);
  const highlights = moved.highlights.map((highlight) => ({ id: randomUUIDv7(), ...highlight }));
  await sql`
    insert into highlights
      (id, workspace_id, recording_id, created_by, text, start_ms, duration_ms, tags, created_at, updated_at)
    select h.id, ${upload.workspace_id}, ${recordingId}, u.id, h.text, h.start_ms, h.duration_ms, h.tags,
      h.created_at, h.created_at
    from jsonb_to_recordset(${JSON.stringify(highlights)}::jsonb) as h (id uuid, text text, start_ms integer,
        duration_ms integer, tags text[], created_at timestamptz, created_by uuid)
      left join users u on u.id = h.created_by`.execute(tx);
  await sql`
    insert into recording_user_shares (recording_id, user_id)
    select ${recordingId}, id from users where id = any(${moved.shared_user_ids}::uuid[]) and deactivated_at is null
    on conflict do nothing`.execute(tx);
  await sql`
    insert into private_notes (recording_id, user_id, text)
    select ${recordingId}, u.id, n.text
    from jsonb_to_recordset(${JSON.stringify(moved.private_notes)}::jsonb) as n (user_id uuid, text text)
      join users u on u.id = n.user_id and u.deactivated_at is null
    on conflict do nothing`.execute(tx);
}

/** Notes which recording an import became, and removes what only the recording has to keep. */
export async function finishMove(tx: Tx, uploadId: string, recordingId: string): Promise<void> {
  await sql`update uploads set import_data = import_data - array['moved', 'notes']
    where id = ${uploadId} and import_data ?| array['moved', 'notes']`.execute(tx);
  await sql`update import_items set state = 'done', recording_id = ${recordingId}, updated_at = clock_timestamp()
    where upload_id = ${uploadId}`.execute(tx);
}
