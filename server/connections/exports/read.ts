import type { z } from "zod";
import { maxComments } from "../../../contract/recordings/comments.ts";
import { fieldNames, pickFields, type RecordingFields } from "../../../contract/recordings/fields.ts";
import type { PortableRecording } from "../../../contract/recordings/portable.ts";
import type { Recording } from "../../../contract/recordings/recordings.ts";
import { readVisible } from "../../people/access/read-visible.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { createSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { readWithinTime } from "../../platform/db/within-time.ts";
import { findComments, listCommentIds } from "../../recordings/comments/queries.ts";
import { thumbnailLinks } from "../../recordings/recordings/json/links.ts";
import { findRecordingJson } from "../../recordings/recordings/queries.ts";

/** A recording as it is exported, without its files. */
export type ExportedRecording = Omit<PortableRecording, "files">;

/** What the API doesn't show, or shows to one user only. */
interface Extras extends RecordingFields {
  readonly ai_summary: string | null;
  readonly ai_summary_points: PortableRecording["ai_summary_points"];
  readonly meeting_type_is_automatic: boolean;
  readonly transcript_language: string | null;
  readonly participants: PortableRecording["participants"];
  readonly shared_users: PortableRecording["shared_users"];
  readonly private_notes: PortableRecording["private_notes"];
  readonly summary_feedback: PortableRecording["summary_feedback"];
  readonly items: PortableRecording["ai_action_items"];
  readonly sections: PortableRecording["ai_template_sections"];
  readonly chapters: PortableRecording["ai_chapters"];
  readonly chapters_by_hand: boolean;
  /** Emails of the users who created the highlights, by id of the highlight. */
  readonly creators: Readonly<Record<string, string>>;
}

/** Sees what the tokens of the workspace see: all its recordings. */
function exporter(workspaceId: string): Principal {
  return {
    tokenId: workspaceId,
    tokenType: "workspace_access_token",
    scope: "workspace",
    workspaceId,
    userId: workspaceId,
    role: "admin",
    emailKey: "",
    name: "export",
    expiresAt: null,
    sees: [workspaceId],
  };
}

/** Thumbnails are not exported, so nobody checks the signature of their URLs. */
const unusedSigner = createSigner("unused");

/** All that is exported of a recording but the content of its media file. */
export interface RecordingParts {
  readonly recording: ExportedRecording;
  readonly entries: readonly ExportedEntry[];
  readonly media: ExportedMedia | undefined;
}

/** Which recording to read. */
export interface ExportSubject {
  readonly workspaceId: string;
  readonly recordingId: string;
}

/** Far more than a recording takes. */
const readingMs = 60_000;

/** Reads a recording as of one moment, from the replica if there is one. @returns undefined when it was deleted. */
export async function readParts(
  db: Pick<Database, "pool" | "replica">,
  baseUrl: string,
  { workspaceId, recordingId }: ExportSubject,
): Promise<RecordingParts | undefined> {
  const principal = exporter(workspaceId);
  const readFrom = (from: Queryable): Promise<RecordingParts | undefined> =>
    readWithinTime(from, readingMs, async (source) => {
      const recording = await readRecording(source, baseUrl, principal, recordingId);
      if (recording === undefined) return undefined;
      return {
        recording,
        entries: await readEntries(source, recordingId),
        media: await readMedia(source, recordingId),
      };
    });
  const parts = await readVisible(db, principal, readFrom, () => [recordingId]);
  // The replica may not have a recording that began to exist after the export.
  return parts ?? (db.replica === null ? undefined : readFrom(db.pool));
}

/** @returns whether a recording still exists; the primary knows. */
export async function isPresent(
  { pool }: Pick<Database, "pool">,
  { workspaceId, recordingId }: ExportSubject,
): Promise<boolean> {
  const { rows } = await pool.query(
    "select 1 from recording_grants where recording_id = $1 and principal_id = $2",
    [recordingId, workspaceId],
  );
  return rows.length > 0;
}

async function readRecording(
  source: Queryable,
  baseUrl: string,
  principal: Principal,
  recordingId: string,
): Promise<ExportedRecording | undefined> {
  const include = { highlights: true, screenshares: true };
  const json = await findRecordingJson(source, principal, recordingId, include, {
    baseUrl,
    thumbnails: thumbnailLinks(unusedSigner, principal.workspaceId),
  });
  const extras = await findExtras(source, recordingId);
  if (json === undefined || extras === undefined) return undefined;
  const recording = JSON.parse(json) as z.output<typeof Recording>;
  const { highlights = [], screenshares = [], meeting_type: type } = recording;
  return {
    format: "parley-recording",
    version: 1,
    id: recording.id,
    url: recording.url,
    title: recording.title,
    start_datetime: recording.start_datetime,
    end_datetime: recording.end_datetime,
    duration_ms: recording.duration_ms,
    media_type: recording.media_type,
    ...pickFields(extras),
    teams: recording.teams.map(({ name }) => ({ name })),
    recorders: recording.recorders.map(({ name, email }) => ({ name, email })),
    shared_users: extras.shared_users,
    meeting_type: type === null ? null : { name: type.name, scope: type.scope },
    meeting_type_is_automatic: extras.meeting_type_is_automatic,
    participants: extras.participants,
    highlights: highlights.map(({ id, text, timestamp, duration, tags, created_datetime }) => ({
      ...{ id, text, timestamp, duration, tags, created_datetime },
      created_by_email: extras.creators[id] ?? null,
    })),
    ai_summary: extras.ai_summary,
    ai_summary_points: extras.ai_summary_points,
    ai_action_items: extras.items,
    ai_template_sections: extras.sections,
    ai_chapters: extras.chapters,
    chapters_by_hand: extras.chapters_by_hand,
    screenshares,
    private_notes: extras.private_notes,
    summary_feedback: extras.summary_feedback,
    comments: await readComments(source, recordingId),
    transcript_language: extras.transcript_language,
  };
}

async function findExtras(source: Queryable, recordingId: string): Promise<Extras | undefined> {
  const { rows } = await source.query<Extras>(
    `
    select r.ai_summary, r.ai_summary_points, not r.meeting_type_by_hand as meeting_type_is_automatic, r.transcript_language,
      ${fieldNames.map((name) => `r.${name}`).join(", ")}, coalesce(r.ai_template_sections, '[]') as sections,
      coalesce((select json_agg(json_build_object('status', i->>'status', 'timestamp', (i->>'timestamp')::integer,
          'text', i->>'text', 'quote', coalesce(i->>'quote', ''), 'due_date', i->>'due_on',
          'participant_id', (select p.id from participants p
            where p.recording_id = r.id and p.id = (i->>'assignee_id')::uuid)) order by n)
        from jsonb_array_elements(r.ai_action_items) with ordinality as e (i, n)), '[]') as items,
      coalesce(r.ai_chapters, '[]') as chapters, r.chapters_by_hand,
      coalesce((select json_agg(json_build_object(
          'id', p.id, 'name', p.name, 'email', p.email, 'phone', p.phone, 'scope', p.scope,
          'confirmed_attendee', p.confirmed_attendee, 'attended', p.attended, 'is_invited', p.is_invited, 'crm_contact_id', p.crm_contact_id,
          'observed_join_time', parley_timestamp(p.observed_join_time),
          'observed_leave_time', parley_timestamp(p.observed_leave_time)) order by p.position)
        from participants p where p.recording_id = r.id), '[]') as participants,
      coalesce((select json_agg(json_build_object('name', u.name, 'email', u.email) order by u.email_key)
        from recording_user_shares s join users u on u.id = s.user_id where s.recording_id = r.id), '[]') as shared_users,
      coalesce((select json_agg(json_build_object('email', u.email, 'text', n.text) order by u.email_key)
        from private_notes n join users u on u.id = n.user_id where n.recording_id = r.id), '[]') as private_notes,
      coalesce((select json_agg(json_build_object('email', u.email, 'rating', f.rating, 'comment', f.comment,
          'model', f.model, 'prompt_version', f.prompt_version) order by u.email_key, f.rated_at)
        from summary_feedback f join users u on u.id = f.user_id where f.recording_id = r.id), '[]') as summary_feedback,
      coalesce((select json_object_agg(h.id, u.email)
        from highlights h join users u on u.id = h.created_by where h.recording_id = r.id), '{}') as creators
    from recordings r where r.id = $1`,
    [recordingId],
  );
  return rows[0];
}

async function readComments(source: Queryable, recordingId: string): Promise<PortableRecording["comments"]> {
  const ids = await listCommentIds(source, recordingId, { after: null, limit: maxComments });
  const found = await findComments(
    source,
    ids.map(({ id }) => id),
  );
  const emails = new Map(await findReactors(source, recordingId));
  return ids
    .flatMap(({ id }) => found.get(id) ?? [])
    .map(({ recording_id: _, author, mentions, reactions, resolved_by: resolver, ...comment }) => ({
      ...comment,
      author_email: author?.email ?? null,
      mentioned_emails: mentions.map(({ email }) => email),
      reactions: reactions.flatMap(({ emoji, user_ids }) =>
        user_ids.map((userId) => ({ emoji, email: emails.get(userId) ?? "" })),
      ),
      resolved_by_email: resolver?.email ?? null,
    }));
}

async function findReactors(source: Queryable, recordingId: string): Promise<[id: string, email: string][]> {
  const { rows } = await source.query<{ id: string; email: string }>(
    `select distinct u.id, u.email from comments c
     join comment_reactions r on r.comment_id = c.id join users u on u.id = r.user_id
     where c.recording_id = $1`,
    [recordingId],
  );
  return rows.map(({ id, email }) => [id, email]);
}

/** A transcript entry with the times of its words. */
export interface ExportedEntry {
  readonly participant_id: string | null;
  readonly speaker: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly word_times: readonly (number | null)[] | null;
}

async function readEntries(source: Queryable, recordingId: string): Promise<ExportedEntry[]> {
  const { rows } = await source.query<ExportedEntry>(
    `
    select participant_id, speaker, start_ms as start, end_ms as end, text, word_times
    from transcript_segments where recording_id = $1 order by position`,
    [recordingId],
  );
  return rows;
}

/** The media file of a recording, with its fingerprint when it was stored. */
export interface ExportedMedia {
  readonly format: "mp4" | "mp3";
  readonly bytes: number | null;
  readonly sha256: Buffer | null;
}

async function readMedia(source: Queryable, recordingId: string): Promise<ExportedMedia | undefined> {
  const { rows } = await source.query<ExportedMedia>(
    `
    select m.format, f.bytes::float8 as bytes, f.sha256
    from recording_media m
    left join stored_files f on f.key = 'recordings/' || m.recording_id || '/media.' || m.format
    where m.recording_id = $1`,
    [recordingId],
  );
  return rows[0];
}

/** Ids of a workspace's recordings after the given one, without those in the trash. */
export async function readIds(
  { pool }: Pick<Database, "pool">,
  workspaceId: string,
  after: string | null,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `
    select id from recordings
    where workspace_id = $1 and ($2::uuid is null or id > $2)
      and not exists (select 1 from trashed_recordings t where t.recording_id = recordings.id)
    order by id limit 500`,
    [workspaceId, after],
  );
  return rows.map(({ id }) => id);
}
