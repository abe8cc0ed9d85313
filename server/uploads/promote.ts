import { randomUUIDv7 } from "node:crypto";
import type { TranscriptInput } from "../../contract/uploads.ts";
import { holdMembership, syncGrants } from "../access/grants.ts";
import type { Config } from "../config.ts";
import type { Database, Tx } from "../db/database.ts";
import { findDefaultMeetingType } from "../directory/queries.ts";
import { record } from "../events/record.ts";
import type { JobQueue } from "../jobs/queue.ts";
import * as write from "../recordings/create.ts";
import { insertUserShare } from "../recordings/queries.ts";
import { findUploadTranscripts, lockUploadById, type UploadRow } from "./queries.ts";
import { anonymousSpeakers, participantIndexByKey, participantName } from "./speakers.ts";
import { transition } from "./transition.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly config: Pick<Config, "newRecordingShareState">;
}

/**
 * The job that turns a promoting upload into a recording. All of it is one transaction that ends with the status:
 * killed at any point it leaves nothing behind and runs again; run twice it finds the upload no longer promoting.
 */
export async function promoteUploadJob(deps: Dependencies, uploadId: string): Promise<void> {
  const { db, jobs } = deps;
  try {
    await db.kysely.transaction().execute(async (tx) => {
      const upload = await lockUploadById(tx, uploadId);
      if (upload?.status !== "promoting") return;
      const recordingId = await createRecording(tx, deps, upload);
      await transition(tx, jobs, upload, "promotion_completed", { recordingId });
    });
  } catch (error) {
    if (!isDataError(error)) throw error;
    await failPromotion(deps, uploadId);
    throw error;
  }
}

/** PostgreSQL classes 22, 23 and 54: the data itself does not fit, so that trying again would not help. */
function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^(22|23|54)/.test(code);
}

async function failPromotion({ db, jobs }: Dependencies, uploadId: string): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const upload = await lockUploadById(tx, uploadId);
    if (upload?.status !== "promoting") return;
    await transition(tx, jobs, upload, "promotion_failed", {
      failureReason:
        "The recording could not be stored, because something in the upload does not fit. Check its title, participants and transcript, and create it again.",
    });
  });
}

async function createRecording(tx: Tx, { config }: Dependencies, upload: UploadRow): Promise<string> {
  await holdMembership(tx, upload.workspace_id);
  const transcript = (await findUploadTranscripts(tx, [upload.id])).get(upload.id);
  const recordingId = randomUUIDv7();
  const people = await describeParticipants(tx, upload, transcript);
  // Somebody from outside makes a meeting external; without a sign of one it is internal.
  const external = people.some((person) => person.scope === "external");
  const start = upload.start_datetime ?? upload.created_at;
  const durationMs = transcript?.segments.reduce((end, segment) => Math.max(end, segment.end), 0) ?? 0;

  await write.insertRecording(tx, {
    id: recordingId,
    workspace_id: upload.workspace_id,
    title: upload.title,
    start_datetime: start,
    end_datetime: new Date(start.getTime() + durationMs),
    duration_ms: durationMs,
    media_type: upload.media_type,
    source: "upload",
    share_state: config.newRecordingShareState,
    external,
    meeting_type_id: await findDefaultMeetingType(
      tx,
      upload.workspace_id,
      external ? "external" : "internal",
    ),
    transcript_language: transcript?.language ?? null,
  });
  await write.insertRecorders(tx, recordingId, upload.recorder_ids);
  await write.insertParticipants(tx, upload.workspace_id, recordingId, people);
  if (upload.scope === "personal" && !upload.recorder_ids.includes(upload.created_by)) {
    // Whoever uploads a meeting and credits others keeps seeing it.
    await insertUserShare(tx, recordingId, upload.created_by);
  }
  if (upload.team_id !== null) await write.insertRecordingTeam(tx, recordingId, upload.team_id);
  if (transcript !== undefined) {
    await write.insertSegments(tx, recordingId, attributeSegments(transcript, upload, people));
  }
  await syncGrants(tx, [recordingId]);
  await record(tx, {
    workspaceId: upload.workspace_id,
    type: "recording_added",
    subjectId: recordingId,
    data: {},
  });
  return recordingId;
}

async function describeParticipants(
  tx: Tx,
  upload: UploadRow,
  transcript: TranscriptInput | undefined,
): Promise<write.NewParticipant[]> {
  const spoken = new Set(transcript?.segments.map((segment) => segment.speaker_key));
  const internal = await write.areInternal(
    tx,
    upload.workspace_id,
    upload.participants.map((participant) => participant.email),
  );
  const claimed = participantIndexByKey(upload.participants);
  return upload.participants.map((participant, index) => ({
    id: randomUUIDv7(),
    name: participantName(participant),
    email: participant.email,
    phone: participant.phone,
    scope:
      participant.email === null || !/@[^\s@]+$/.test(participant.email)
        ? "unknown"
        : internal[index]
          ? "internal"
          : "external",
    confirmed_attendee:
      participant.speaker_key !== null &&
      spoken.has(participant.speaker_key) &&
      claimed.get(participant.speaker_key) === index,
    // Whoever made the upload says that they took part, heard or not.
    attended: true,
  }));
}

function attributeSegments(
  transcript: TranscriptInput,
  upload: UploadRow,
  people: readonly write.NewParticipant[],
): write.NewSegment[] {
  const claimed = participantIndexByKey(upload.participants);
  const anonymous = new Map(
    anonymousSpeakers(transcript.segments, upload.participants).map((speaker) => [
      speaker.speaker_key,
      speaker.name,
    ]),
  );
  return transcript.segments
    .toSorted((a, b) => a.start - b.start)
    .map((segment) => {
      const person = people[claimed.get(segment.speaker_key) ?? -1];
      return {
        participant_id: person?.id ?? null,
        speaker: person?.name ?? anonymous.get(segment.speaker_key) ?? "Unknown Speaker",
        start_ms: segment.start,
        end_ms: segment.end,
        text: segment.text,
      };
    });
}
