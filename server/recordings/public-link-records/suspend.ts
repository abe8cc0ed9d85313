import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";

/** A link as the trash keeps it, without names and texts. The column names of `resumeLinks` match. */
export interface SuspendedLink {
  readonly id: string;
  readonly highlight_id: string | null;
  readonly created_by: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly password_hash: string | null;
  readonly allow_download: boolean;
  /** Missing in what an earlier version moved to the trash. */
  readonly include_summary?: boolean;
  readonly start_ms: number | null;
  readonly last_opened_at: string | null;
  /** The approved range of its highlight; null if the highlight was renamed since, so that it is approved again. */
  readonly approved: { readonly start_ms: number; readonly end_ms: number } | null;
}

/** Revokes the links of a recording and of its highlights. @returns them, for `resumeLinks`. */
export async function suspendLinks(tx: Tx, recordingId: string): Promise<SuspendedLink[]> {
  const ofRecording = sql`(l.recording_id = ${recordingId}
    or l.highlight_id in (select h.id from highlights h where h.recording_id = ${recordingId}))`;
  const { rows } = await sql<{ link: SuspendedLink }>`
    select json_build_object('id', l.id, 'highlight_id', l.highlight_id, 'created_by', l.created_by,
      'created_at', l.created_at, 'expires_at', l.expires_at, 'password_hash', l.password_hash,
      'allow_download', l.allow_download, 'include_summary', l.include_summary, 'start_ms', l.start_ms, 'last_opened_at', l.last_opened_at,
      'approved', (select json_build_object('start_ms', c.start_ms, 'end_ms', c.end_ms)
        from public_link_highlights c join highlights h on h.id = c.highlight_id and h.text = c.text
        where c.link_id = l.id and c.highlight_id = l.highlight_id)) as link
    from public_links l where ${ofRecording} order by l.created_at, l.id for update of l`.execute(tx);
  await sql`delete from public_links l where ${ofRecording}`.execute(tx);
  return rows.map(({ link }) => link);
}

/**
 * Makes suspended links work again, with the same URLs, which their ids decide. Leaves out links of highlights that are
 * gone, and of a recording that is no longer public.
 */
export async function resumeLinks(
  tx: Tx,
  recording: { readonly id: string; readonly workspaceId: string },
  links: readonly SuspendedLink[],
): Promise<void> {
  if (links.length === 0) return;
  const given = sql`jsonb_to_recordset(${JSON.stringify(links)}::jsonb) as s (id uuid, highlight_id uuid, created_by uuid,
    created_at timestamptz, expires_at timestamptz, password_hash text, allow_download boolean, include_summary boolean, start_ms integer,
    last_opened_at timestamptz, approved jsonb)`;
  await sql`
    insert into public_links (id, workspace_id, kind, recording_id, highlight_id, created_by, created_at, expires_at,
      password_hash, allow_download, include_summary, start_ms, last_opened_at)
    select s.id, r.workspace_id, case when h.id is null then 'recording' else 'highlight' end,
      case when h.id is null then r.id end, h.id, u.id, s.created_at, s.expires_at, s.password_hash, s.allow_download,
      coalesce(s.include_summary, false), s.start_ms, s.last_opened_at
    from ${given}
      join recordings r on r.id = ${recording.id} and r.workspace_id = ${recording.workspaceId}
      left join highlights h on h.id = s.highlight_id and h.recording_id = r.id
      left join users u on u.id = s.created_by
    where h.id is not null or (s.highlight_id is null and r.share_state = 'public')
    on conflict (id) do nothing`.execute(tx);
  await sql`
    insert into public_link_highlights (link_id, highlight_id, start_ms, end_ms, text)
    select l.id, h.id, (s.approved ->> 'start_ms')::integer, (s.approved ->> 'end_ms')::integer, h.text
    from ${given} join public_links l on l.id = s.id join highlights h on h.id = l.highlight_id
    where jsonb_typeof(s.approved) = 'object'
    on conflict do nothing`.execute(tx);
}
