import { sql } from "kysely";
import { z } from "zod";
import { holdMembership, syncGrants } from "../../../people/access/grants.ts";
import { recordEvent } from "../../../people/events/record-event.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { defineJob } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { ofRecording } from "../../../recordings/recordings/job-of-recording.ts";
import { applyMeeting, hasGeneratedTitle } from "./apply.ts";
import {
  type Candidate,
  chooseCandidate,
  findCandidates,
  findNamedEvent,
  findTrustedRecorders,
  isTrustedRecorder,
} from "./candidates.ts";

/**
 * Finds the meeting of a recording in the calendars of its trusted recorders and of rooms. One transaction: killed at any point it
 * leaves nothing behind and runs again, and a recording that was matched, or whose match a user undid, is left alone.
 */
async function matchMeeting(db: Database, { recordingId, changedBy }: Payload): Promise<void> {
  const found = await db.kysely
    .selectFrom("recordings")
    .select("workspace_id")
    .where("id", "=", recordingId)
    .executeTakeFirst();
  if (found === undefined) return;
  await db.kysely.transaction().execute(async (tx) => {
    await holdMembership(tx, found.workspace_id);
    const recording = await lockUnmatched(tx, recordingId);
    if (recording === undefined) return;
    const recorderIds = (await findTrustedRecorders(tx, recordingId)).filter(
      (id) => changedBy === undefined || id === changedBy,
    );
    const event = recording.names_meeting
      ? await findNamedEvent(tx, recordingId, recorderIds)
      : await findByTime(tx, recording, recorderIds, changedBy);
    if (event === "unclear")
      await tx
        .insertInto("recording_meetings")
        .values({ recording_id: recordingId, state: "ambiguous" })
        .execute();
    if (event === null || event === "unclear") return;
    await applyMeeting(tx, recording, event, null);
    await sql`update recordings set updated_at = clock_timestamp() where id = ${recordingId}`.execute(tx);
    await syncGrants(tx, [recordingId]);
    await recordEvent(tx, {
      workspaceId: recording.workspace_id,
      type: "recording_updated",
      subjectId: recordingId,
      data: {},
    });
  });
}

/** The meeting at the time of a recording, if that time says when it was recorded. */
async function findByTime(
  tx: Tx,
  { id, title, start_ground: ground }: Unmatched,
  recorderIds: readonly string[],
  changedBy: string | undefined,
): Promise<Candidate | "unclear" | null> {
  // Another user could read the recorders' calendars by it.
  if (ground === "upload" || (ground === "user" && changedBy === undefined)) return null;
  const own = (await hasGeneratedTitle(tx, id)) ? null : title;
  const event = chooseCandidate(await findCandidates(tx, id, recorderIds), own);
  // A file that was copied or downloaded was changed only then.
  return event !== null && ground === "modified" ? "unclear" : event;
}

interface Unmatched {
  readonly id: string;
  readonly workspace_id: string;
  readonly title: string;
  /** Whether its calendar event says which meeting it is. */
  readonly names_meeting: boolean;
  readonly start_ground: string | null;
}

/** Locks a recording unless it is in the trash, has a meeting, or was moved here from another system. */
async function lockUnmatched(tx: Tx, recordingId: string): Promise<Unmatched | undefined> {
  await sql`select 1 from recordings where id = ${recordingId} for update`.execute(tx);
  const { rows } = await sql<Unmatched>`
    select r.id, r.workspace_id, r.title, r.start_ground, r.calendar_event is not null as names_meeting
    from recordings r where r.id = ${recordingId} and ${isUnmatched}`.execute(tx);
  return rows[0];
}

const isUnmatched = sql<boolean>`((r.calendar_event is null or r.calendar_event ->> 'ical_uid' is not null)
  and not exists (select 1 from recording_meetings m where m.recording_id = r.id)
  and not exists (select 1 from trashed_recordings t where t.recording_id = r.id)
  and not exists (select 1 from uploads u where u.recording_id = r.id and u.import_data ? 'moved'))`;

const maxLateMatches = 50;

/**
 * Requests matches of the recordings of the last day that have no meeting yet, in the transaction that stores the events of
 * a calendar: a meeting may have been entered after it began.
 */
export async function requestLateMatches(tx: Tx, jobs: JobQueue, calendarId: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select distinct r.id from calendars c
      join recordings r on r.workspace_id = c.workspace_id
      join recording_recorders rr on rr.recording_id = r.id and (c.user_id is null or rr.user_id = c.user_id) and ${isTrustedRecorder}
      join calendar_events e on e.calendar_id = c.id and e.start_at < r.end_datetime and e.end_at > r.start_datetime
    where c.id = ${calendarId} and r.created_at > now() - interval '1 day' and not e.is_all_day and not e.is_private
      and (r.calendar_event is not null or r.start_ground is null or r.start_ground = 'modified') and ${isUnmatched}
    limit ${maxLateMatches}`.execute(tx);
  for (const { id } of rows) await jobs.enqueue(tx, "match_meeting", { recordingId: id }, id);
}

const schema = ofRecording.schema.extend({
  /** The user who changed the start. */
  changedBy: z.string().optional(),
});
type Payload = z.infer<typeof schema>;

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    match_meeting: Payload;
  }
}

export const matchMeetingKind = defineJob({
  ...ofRecording,
  schema,
  name: "match_meeting",
  label: (i18n) => i18n.t("Find meeting"),
  concurrency: 2,
  discard: { lost: (i18n) => i18n.t("The recording stays. Its meeting can be chosen on its page.") },
  handler: ({ db }, payload) => matchMeeting(db, payload),
});
