import type pg from "pg";
import { managedShape } from "../../../../contract/recordings/fields.ts";
import type { RecordingIncludeInput } from "../../../../contract/recordings/recordings.ts";
import { refusal } from "../../../platform/auth/permissions.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { ThumbnailLinks } from "../json/links.ts";
import { compact } from "../json/sql.ts";
import { findRecordingJson } from "../queries.ts";
import { hasRight, isRecorder } from "../rights.ts";

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
  const isUser = mayWrite && principal.scope === "personal";
  const change = hasRight(principal, "change", row);
  const can = {
    change,
    share: hasRight(principal, "share", row),
    delete: hasRight(principal, "delete", row),
    edit_transcript: change,
    transcribe: change && hasSpeechModel,
    add_highlights: mayWrite,
    write_private_notes: isUser,
    comment: isUser,
  };
  return `{"recording":${recording},"can":${JSON.stringify(can)},${row.json.slice(1)}`;
}

/** The SQL expression that turns a row `p` of participants into the management API's Participant. */
export const managedParticipant = `(select row_to_json(q) from (select
  p.id as "id", p.name as "name", p.email as "email", p.phone as "phone", p.scope as "scope",
  p.confirmed_attendee as "confirmed_attendee", p.attended as "attended", p.crm_contact_id as "crm_contact_id",
  p.is_invited as "is_invited",
  p.is_invited and exists (select 1 from users u join workspaces w on w.id = u.workspace_id
    where u.workspace_id = p.workspace_id and u.email_key = p.email_key and u.deactivated_at is null
      and not exists (select 1 from recording_grants g where g.recording_id = p.recording_id
        and g.principal_id = any(parley_principals(u.id, w.members_id)))) as "lacks_access",
  parley_timestamp(p.observed_join_time) as "observed_join_time",
  parley_timestamp(p.observed_leave_time) as "observed_leave_time") q)`;

const managedFields = Object.keys(managedShape).map((name) => `r.${name} as "${name}",`);

const viewJson = `(select row_to_json(q) from (select ${managedFields.join(" ")}
    coalesce((select array_to_json(array_agg(${managedParticipant} order by p.position))
      from participants p where p.recording_id = r.id), '[]') as "participants",
    coalesce((
      select array_to_json(array_agg((select row_to_json(q) from (select u.id as "id", u.name as "name", u.email as "email") q) order by u.name, u.id))
      from recording_user_shares s join users u on u.id = s.user_id where s.recording_id = r.id), '[]') as "shared_users",
    not r.meeting_type_by_hand as "meeting_type_is_automatic",
    (select (select row_to_json(q) from (select u.id as "id", u.name as "name", u.email as "email") q)
      from users u where u.id = f.created_by) as "uploaded_by",
    f.id as "upload_id",
    f.external_id as "external_id",
    (select row_to_json(q) from (select
      r.transcript_language as "language",
      r.transcript_version as "version",
      (select count(*) from transcript_segments s where s.recording_id = r.id) as "segments",
      exists (select 1 from transcript_segments s
        where s.recording_id = r.id and s.original is not null) as "is_edited",
      (select (select row_to_json(q) from (select
          t.status as "status", t.stage as "stage", t.progress as "progress",
          case when t.status = 'running' then t.waits_for end as "waits_for", t.attempts as "attempts", t.last_error as "last_error",
          case when t.canceled_at is not null then (select row_to_json(q) from (select
            (select u.name from users u where u.id = t.canceled_by) as "by",
            parley_timestamp(t.canceled_at) as "datetime") q) end as "canceled",
          parley_timestamp(t.not_before) as "next_attempt_datetime", t.edits as "edits",
          t.unclear_passages as "unclear_passages",
          t.spoken_language as "spoken_language") q)
        from transcriptions t where t.recording_id = r.id) as "transcription") q) as "transcript",
    coalesce(${compact("r.ai_chapters")}, '[]') as "chapters",
    ${compact("r.ai_summary_points")} as "summary_points",
    coalesce((select array_to_json(array_agg(${compact("s->'points'")} order by n))
      from jsonb_array_elements(r.ai_template_sections) with ordinality as e (s, n)), '[]') as "section_points",
    (select (select row_to_json(q) from (select
        case m.format when 'mp4' then 'video/mp4' else 'audio/mpeg' end as "content_type",
        m.has_storyboard as "has_storyboard",
        m.ends_early as "ends_early") q)
      from recording_media m where m.recording_id = r.id) as "media",
    parley_timestamp(r.created_at) as "created_datetime",
    parley_timestamp(r.updated_at) as "updated_datetime") q)`;

const viewQuery = `select ${viewJson}::text as json,
    ${isRecorder({ recording: "r.id", user: "$2" })} as is_recorder
  from recordings r
  left join lateral (
    select u.id, u.external_id, u.created_by from uploads u where u.recording_id = r.id order by u.created_at limit 1) f on true
  where r.id = $1`;
