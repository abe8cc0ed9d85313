import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { commandLine } from "../../server/audit/record.ts";
import type { Config } from "../../server/config.ts";
import type { Database } from "../../server/db/database.ts";
import { importRecording } from "../../server/imports/service.ts";
import type { JobQueue } from "../../server/jobs/queue.ts";
import { withScratch } from "../../server/media/scratch.ts";
import { shareWithUser } from "../../server/recordings/service.ts";
import { uploadFileKey } from "../../server/storage/layout.ts";
import type { ObjectStore } from "../../server/storage/store.ts";
import { takeFile } from "../../server/uploads/arrival.ts";
import { type Cast, principalOf, required } from "./cast.ts";
import { makeFilmFile } from "./media/make.ts";
import { cutShort, placesOf } from "./script.ts";
import type { DemoMeeting } from "./types.ts";

export interface DemoDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Config;
}

/** Longer than a worker takes that starts again in between. */
const deadlineMs = 300_000;

/**
 * Brings one meeting in the way another program would: an import that knows its people, transcript, tags and shares;
 * its film, sent to the store; checked and promoted by whichever worker takes the jobs. Run again after it was broken
 * off anywhere, it goes on with the import that there is.
 * @returns the id of the recording, and whether this run made it.
 */
export async function bringIn(
  deps: DemoDependencies,
  cast: Cast,
  meeting: DemoMeeting,
  minutes: number | null,
): Promise<{ recordingId: string; isNew: boolean }> {
  const { db, config } = deps;
  const principal = principalOf(cast, meeting.recorders[0] ?? "");
  const before = await findImport(db, cast, meeting);
  const isNew = before?.status !== "success";
  if (isNew)
    await withScratch(config.dataDir, async ({ folder }) => {
      const path = join(folder, meeting.media === "audio" ? "film.mp3" : "film.mp4");
      // The film comes first: whoever looks finds no import that waits for a file for long.
      const isNeeded = before === undefined || before.status === "awaiting" || before.status === "failure";
      if (meeting.media !== undefined && isNeeded) await makeFilmFile(meeting, path, minutes);
      const whole = minutes === null ? meeting : cutShort(meeting, minutes);
      const { row } = await importRecording(deps, principal, await describe(db, cast, whole));
      if (row.status === "awaiting") await send(deps, row.id, path);
    });
  const recordingId = await promoted(db, cast, meeting);
  const actor = commandLine(cast.workspaceId);
  for (const email of meeting.sharedWithUsers ?? [])
    await shareWithUser(db, principal, recordingId, required(cast.users, email), actor);
  return { recordingId, isNew };
}

/** As `PUT` does with a file that has arrived whole. */
async function send({ db, jobs, store }: DemoDependencies, uploadId: string, path: string): Promise<void> {
  const key = uploadFileKey(uploadId);
  const contentType = path.endsWith("3") ? "audio/mpeg" : "video/mp4";
  const file = await store.putFile(key, path, { contentType });
  await takeFile({ db, jobs, store }, uploadId, file);
}

/** Everything that is known of a meeting, as the import takes it. */
async function describe(db: Database, cast: Cast, meeting: DemoMeeting) {
  const { media, team, sharedWithTeams = [] } = meeting;
  const teams = team === undefined ? sharedWithTeams : [team, ...sharedWithTeams];
  const { id: typeId } = await db.kysely
    .selectFrom("meeting_types")
    .select("id")
    .where("workspace_id", "=", cast.workspaceId)
    .where("name", "=", meeting.meetingType)
    .executeTakeFirstOrThrow();
  const place = (key: string): number => meeting.participants.findIndex((person) => person.key === key);
  return {
    external_id: nameOf(meeting),
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
    team_ids: teams.map((name) => required(cast.teams, name)),
    recorder_ids: meeting.recorders.map((email) => required(cast.users, email)),
    meeting_type_id: typeId,
    participants: meeting.participants.map(({ key, ...person }) => ({ ...person, speaker_key: key })),
    screenshares: placesOf(meeting).map(({ slide, startMs, endMs }) => ({
      start: startMs,
      end: endMs,
      participant: place(slide.by),
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

/** Its name on the other side: what has it is brought in once. */
function nameOf(meeting: DemoMeeting): string {
  return `demo: ${meeting.title}`;
}

async function findImport(db: Database, { workspaceId }: Cast, meeting: DemoMeeting) {
  return (
    db.kysely
      .selectFrom("uploads")
      .select(["id", "status", "recording_id", "failure_reason"])
      .where("workspace_id", "=", workspaceId)
      // Made by an older version, it has no such name.
      .where((is) =>
        is.or([
          is("external_id", "=", nameOf(meeting)),
          is.and([is("external_id", "is", null), is("title", "=", meeting.title)]),
        ]),
      )
      .orderBy(sql`status = 'failure'`)
      .orderBy("created_at", "desc")
      .executeTakeFirst()
  );
}

/** Waits until workers have made it a recording. */
async function promoted(db: Database, cast: Cast, meeting: DemoMeeting): Promise<string> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const row = await findImport(db, cast, meeting);
    if (row?.status === "success" && row.recording_id !== null) return row.recording_id;
    if (row?.status === "failure")
      throw new Error(`the sample meeting "${meeting.title}" was refused: ${row.failure_reason}`);
    if (Date.now() > end)
      throw new Error(`the sample meeting "${meeting.title}" did not become a recording in time`);
    await wait(100);
  }
}

function startOf(meeting: DemoMeeting): Date {
  const day = new Date(Date.now() - meeting.daysAgo * 86_400_000).toISOString().slice(0, 10);
  return new Date(`${day}T${meeting.startsAt}:00Z`);
}
