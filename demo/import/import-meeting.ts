import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { importRecording } from "../../server/connections/imports/service.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import type { Config } from "../../server/platform/config/config.ts";
import type { Database } from "../../server/platform/db/database.ts";
import type { JobQueue } from "../../server/platform/jobs/queue.ts";
import { uploadFileKey } from "../../server/platform/storage/layout.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { withScratch } from "../../server/processing/media/scratch.ts";
import { takeFile } from "../../server/processing/uploads/transfer/arrival.ts";
import { shareWithUser } from "../../server/recordings/recordings/share/shares.ts";
import { slideTimes, truncateMeeting } from "../content/timeline.ts";
import type { DemoMeeting } from "../content/types.ts";
import { renderMeetingFile } from "../media/render-file.ts";
import { type DemoAccounts, principalOf, requireId } from "./accounts.ts";

export interface DemoDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Config;
}

/** Long enough for a worker to restart while it processes the meeting. */
const timeoutMs = 300_000;

/**
 * Imports one meeting as an app would: an import with participants, transcript, tags and shares, then its media file.
 * Any worker validates and promotes it. Run again after an interruption, it resumes the existing import.
 * @returns the recording's id, and whether this run created it.
 */
export async function importMeeting(
  deps: DemoDependencies,
  accounts: DemoAccounts,
  meeting: DemoMeeting,
  minutes: number | null,
): Promise<{ recordingId: string; isNew: boolean }> {
  const { db, config } = deps;
  const principal = principalOf(accounts, meeting.recorders[0] ?? "");
  const existing = await findImport(db, accounts, meeting);
  const isNew = existing?.status !== "success";
  if (isNew)
    await withScratch(config.dataDir, async ({ folder }) => {
      const path = join(folder, meeting.media === "audio" ? "recording.mp3" : "recording.mp4");
      const isFileNeeded =
        existing === undefined || existing.status === "awaiting" || existing.status === "failure";
      // Rendered before the import is created, so that the upload does not stay in `awaiting` meanwhile.
      if (meeting.media !== undefined && isFileNeeded) await renderMeetingFile(meeting, path, minutes);
      const content = minutes === null ? meeting : truncateMeeting(meeting, minutes);
      const { row } = await importRecording(deps, principal, await toImportBody(db, accounts, content));
      if (row.status === "awaiting") await uploadFile(deps, row.id, path);
    });
  const recordingId = await waitForRecording(db, accounts, meeting);
  const actor = commandLine(accounts.workspaceId);
  for (const email of meeting.sharedWithUsers ?? [])
    await shareWithUser(db, principal, recordingId, requireId(accounts.users, email), actor);
  return { recordingId, isNew };
}

/** Stores the file and completes the upload, as the PUT route does. */
async function uploadFile(
  { db, jobs, store }: DemoDependencies,
  uploadId: string,
  path: string,
): Promise<void> {
  const key = uploadFileKey(uploadId);
  const contentType = path.endsWith("3") ? "audio/mpeg" : "video/mp4";
  const file = await store.putFile(key, path, { contentType });
  await takeFile({ db, jobs, store }, uploadId, file);
}

/** The meeting as the body of Create Import. */
async function toImportBody(db: Database, accounts: DemoAccounts, meeting: DemoMeeting) {
  const { media, team, sharedWithTeams = [] } = meeting;
  const teams = team === undefined ? sharedWithTeams : [team, ...sharedWithTeams];
  const { id: typeId } = await db.kysely
    .selectFrom("meeting_types")
    .select("id")
    .where("workspace_id", "=", accounts.workspaceId)
    .where("name", "=", meeting.meetingType)
    .executeTakeFirstOrThrow();
  const participantIndex = (key: string): number =>
    meeting.participants.findIndex((participant) => participant.key === key);
  return {
    external_id: externalIdOf(meeting),
    title: meeting.title,
    start_datetime: startOf(meeting).toISOString(),
    source:
      media === undefined
        ? ("other" as const)
        : media === "audio"
          ? ("local_capture" as const)
          : ("zoom" as const),
    share_state: meeting.shareState,
    tags: [...meeting.tags],
    team_ids: teams.map((name) => requireId(accounts.teams, name)),
    recorder_ids: meeting.recorders.map((email) => requireId(accounts.users, email)),
    meeting_type_id: typeId,
    participants: meeting.participants.map(({ key, ...participant }) => ({
      ...participant,
      speaker_key: key,
    })),
    screenshares: slideTimes(meeting).map(({ slide, startMs, endMs }) => ({
      start: startMs,
      end: endMs,
      participant: participantIndex(slide.by),
    })),
    transcript: {
      language: meeting.language,
      segments: meeting.segments.map(({ key, start, end, text }) => ({ speaker_key: key, start, end, text })),
    },
    ...(media === undefined
      ? {}
      : { media: { format: media === "audio" ? ("mp3" as const) : ("mp4" as const) } }),
  };
}

/** Makes the import idempotent: a second import with the same external_id returns the first. */
function externalIdOf(meeting: DemoMeeting): string {
  return `demo: ${meeting.title}`;
}

async function findImport(db: Database, { workspaceId }: DemoAccounts, meeting: DemoMeeting) {
  return (
    db.kysely
      .selectFrom("uploads")
      .select(["id", "status", "recording_id", "failure_reason"])
      .where("workspace_id", "=", workspaceId)
      // Imports of older versions have no external_id.
      .where((is) =>
        is.or([
          is("external_id", "=", externalIdOf(meeting)),
          is.and([is("external_id", "is", null), is("title", "=", meeting.title)]),
        ]),
      )
      .orderBy(sql`status = 'failure'`)
      .orderBy("created_at", "desc")
      .executeTakeFirst()
  );
}

/** Waits until a worker has promoted the upload. */
async function waitForRecording(db: Database, accounts: DemoAccounts, meeting: DemoMeeting): Promise<string> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const row = await findImport(db, accounts, meeting);
    if (row?.status === "success" && row.recording_id !== null) return row.recording_id;
    if (row?.status === "failure")
      throw new Error(`importing the sample meeting "${meeting.title}" failed: ${row.failure_reason}`);
    if (Date.now() > deadline)
      throw new Error(
        `the sample meeting "${meeting.title}" was not promoted within ${timeoutMs / 1000} s; run the command again to resume`,
      );
    await wait(100);
  }
}

/** The meeting's start, moved off weekends: Saturday to Friday, Sunday to Monday if that is still in the past. @param now Unix ms. */
export function startOf(meeting: Pick<DemoMeeting, "daysAgo" | "startsAt">, now = Date.now()): Date {
  const weekday = new Date(now - meeting.daysAgo * dayMs).getUTCDay();
  const shift = weekday === 6 ? 1 : weekday === 0 ? (meeting.daysAgo > 1 ? -1 : 2) : 0;
  const day = new Date(now - (meeting.daysAgo + shift) * dayMs).toISOString().slice(0, 10);
  return new Date(`${day}T${meeting.startsAt}:00Z`);
}

const dayMs = 86_400_000;
