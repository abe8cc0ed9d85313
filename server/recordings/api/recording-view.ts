import type pg from "pg";
import type { RecordingIncludeInput } from "../../../contract/recordings.ts";
import { refusal } from "../../platform/auth/permissions.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { ThumbnailLinks } from "../json/links.ts";
import { findRecordingJson } from "../queries.ts";
import { mayChange } from "../rights.ts";

const everything: RecordingIncludeInput = {
  highlights: true,
  participants: true,
  ai_action_items: true,
  ai_summary: true,
  calendar_event: true,
  crm: true,
  screenshares: true,
  ai_template_sections: {},
};

interface ViewRow {
  /** RecordingView without `recording` and `can`, as JSON from PostgreSQL. */
  readonly json: string;
  readonly is_recorder: boolean;
}

/**
 * The management API's view of a recording as JSON.
 * @returns undefined when it doesn't exist or the principal can't see it.
 */
export async function findRecordingView(
  pool: pg.Pool,
  principal: Principal,
  recordingId: string,
  {
    hasSpeechModel,
    ...links
  }: {
    readonly baseUrl: string;
    readonly thumbnails: ThumbnailLinks;
    /** Whether a speech model is configured. */
    readonly hasSpeechModel: boolean;
  },
): Promise<string | undefined> {
  const include = principal.scope === "personal" ? { ...everything, private_notes: true } : everything;
  const recording = await findRecordingJson(pool, principal, recordingId, include, links);
  if (recording === undefined) return undefined;
  const { rows } = await pool.query<ViewRow>({
    name: "recording_view",
    text: viewQuery,
    values: [recordingId, principal.userId],
  });
  const row = rows[0];
  // The recording was deleted in the meantime.
  if (row === undefined) return undefined;
  const mayWrite = refusal("write", principal) === null;
  const change = mayWrite && mayChange(principal, row);
  const can = {
    change,
    delete: change,
    edit_transcript: change,
    transcribe: change && hasSpeechModel,
    add_highlights: mayWrite,
    write_private_notes: mayWrite && principal.scope === "personal",
  };
  return `{"recording":${recording},"can":${JSON.stringify(can)},${row.json.slice(1)}`;
}

/** The SQL expression that turns a row `p` of participants into the management API's Participant. */
export const managedParticipant = `json_build_object(
  'id', p.id, 'name', p.name, 'email', p.email, 'phone', p.phone, 'scope', p.scope,
  'confirmed_attendee', p.confirmed_attendee, 'attended', p.attended, 'crm_contact_id', p.crm_contact_id,
  'observed_join_time', parley_timestamp(p.observed_join_time),
  'observed_leave_time', parley_timestamp(p.observed_leave_time))`;

const viewQuery = `select json_build_object(
    'participants', coalesce((select json_agg(${managedParticipant} order by p.position)
      from participants p where p.recording_id = r.id), '[]'),
    'shared_users', coalesce((
      select json_agg(json_build_object('id', u.id, 'name', u.name, 'email', u.email) order by u.name, u.id)
      from recording_user_shares s join users u on u.id = s.user_id where s.recording_id = r.id), '[]'),
    'meeting_type_is_automatic', not r.meeting_type_by_hand,
    'uploaded_by', (select json_build_object('id', u.id, 'name', u.name, 'email', u.email)
      from users u where u.id = f.created_by),
    'upload_id', f.id,
    'external_id', f.external_id,
    'transcript', json_build_object(
      'language', r.transcript_language,
      'version', r.transcript_version,
      'segments', (select count(*) from transcript_segments s where s.recording_id = r.id),
      'is_edited', exists (select 1 from transcript_segments s
        where s.recording_id = r.id and s.original is not null),
      'transcription', (select json_build_object(
          'status', t.status, 'stage', t.stage, 'progress', t.progress, 'attempts', t.attempts, 'last_error', t.last_error,
          'canceled', case when t.canceled_at is not null then json_build_object(
            'by', (select u.name from users u where u.id = t.canceled_by),
            'datetime', parley_timestamp(t.canceled_at)) end,
          'next_attempt_datetime', parley_timestamp(t.not_before), 'edits', t.edits,
          'unclear_passages', t.unclear_passages,
          'spoken_language', t.spoken_language)
        from transcriptions t where t.recording_id = r.id)),
    'media', (select json_build_object(
        'content_type', case m.format when 'mp4' then 'video/mp4' else 'audio/mpeg' end,
        'has_storyboard', m.has_storyboard)
      from recording_media m where m.recording_id = r.id),
    'created_datetime', parley_timestamp(r.created_at),
    'updated_datetime', parley_timestamp(r.updated_at))::text as json,
    exists (select 1 from recording_recorders rr
      where rr.recording_id = r.id and rr.user_id = $2::uuid) as is_recorder
  from recordings r
  left join lateral (
    select u.id, u.external_id, u.created_by from uploads u where u.recording_id = r.id order by u.created_at limit 1) f on true
  where r.id = $1`;
