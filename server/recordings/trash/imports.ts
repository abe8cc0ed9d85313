import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import type { ImportData } from "../../platform/db/json-columns.ts";

/** What identifies an upload whose recording is in the trash: no names and no texts. */
export interface KeptImport {
  readonly id: string;
  readonly created_by: string;
  readonly scope: "personal" | "workspace";
  readonly media_type: "audio" | "transcript" | "video";
  /** Of an import; null: of an upload of the versioned API. */
  readonly external_id: string | null;
  readonly created_at: string;
  /** The meetings of connections that it is of; missing in rows of earlier versions, as is the next. */
  readonly meetings?: readonly { readonly source: string; readonly meeting_key: string }[] | null;
  /** The hashes of the watched files whose source has not been moved or deleted yet. */
  readonly watched_files?: readonly string[] | null;
}

/** The uploads that a recording came from, before they are deleted. */
export async function findImports(tx: Tx, recordingId: string): Promise<KeptImport[]> {
  const { rows } = await sql<KeptImport>`
    select u.id, u.created_by, u.scope, u.media_type, u.external_id, to_json(u.created_at) #>> '{}' as created_at,
      (select jsonb_agg(jsonb_build_object('source', m.source, 'meeting_key', encode(m.meeting_key, 'hex')))
        from connection_meetings m where m.upload_id = u.id) as meetings,
      (select jsonb_agg(encode(w.path_hash, 'hex'))
        from watched_files w where w.upload_id = u.id and w.state = 'pending') as watched_files
    from uploads u
    where u.recording_id = ${recordingId} and u.status = 'success'`.execute(tx);
  return rows;
}

/** What an import added is in the recording. */
const spentImport: ImportData = {
  format: null,
  media_key: null,
  team_ids: [],
  meeting_type_id: null,
  screenshares: [],
};

/**
 * Restores the uploads of a restored recording, so that clients find them again, sending an import again finds it instead
 * of creating a duplicate, and what refers to them. An import that was sent again meanwhile stays deleted.
 */
export async function restoreImports(
  tx: Tx,
  recordingId: string,
  imports: readonly KeptImport[],
): Promise<void> {
  if (imports.length === 0) return;
  const kept = JSON.stringify(imports);
  await sql`
    insert into uploads (id, workspace_id, created_by, scope, media_type, title, status, auto_promote, recorder_ids,
      recording_id, planned_recording_id, external_id, created_at, is_transcript_removed, url_expires_at,
      max_duration_sec, max_upload_bytes, import_data)
    select s.id, r.workspace_id, u.id, s.scope, s.media_type, r.title, 'success', true,
      array(select rr.user_id from recording_recorders rr where rr.recording_id = r.id order by rr.position),
      r.id, r.id, s.external_id, s.created_at, true, s.created_at, 0, 0,
      ${JSON.stringify(spentImport)}::jsonb || jsonb_build_object('source', r.source)
    from jsonb_to_recordset(${kept}::jsonb) as s (id uuid, created_by uuid, scope text,
        media_type text, external_id text, created_at timestamptz)
      join users u on u.id = s.created_by
      join recordings r on r.id = ${recordingId}
    on conflict do nothing`.execute(tx);
  await sql`
    update connection_meetings m set upload_id = u.id
    from jsonb_to_recordset(${kept}::jsonb) as s (id uuid, meetings jsonb)
      join uploads u on u.id = s.id
      cross join jsonb_to_recordset(coalesce(s.meetings, '[]')) as k (source text, meeting_key text)
    where m.workspace_id = u.workspace_id and m.source = k.source and m.meeting_key = decode(k.meeting_key, 'hex')
      and m.upload_id is null`.execute(tx);
  await sql`
    update watched_files w set upload_id = u.id
    from jsonb_to_recordset(${kept}::jsonb) as s (id uuid, watched_files jsonb)
      join uploads u on u.id = s.id
      cross join jsonb_array_elements_text(coalesce(s.watched_files, '[]')) as k (path_hash)
    where w.workspace_id = u.workspace_id and w.path_hash = decode(k.path_hash, 'hex')
      and w.state = 'pending' and w.upload_id is null`.execute(tx);
}
