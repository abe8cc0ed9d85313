import { randomUUIDv7 } from "node:crypto";
import type { TranscriptInput } from "../../contract/uploads.ts";
import { holdMembership, syncGrants } from "../access/grants.ts";
import type { Config } from "../config.ts";
import type { Tx } from "../db/database.ts";
import { findDefaultMeetingType } from "../directory/queries.ts";
import { record } from "../events/record.ts";
import * as write from "../recordings/create.ts";
import { participantScopes } from "../recordings/participant-scope.ts";
import { insertUserShare } from "../recordings/queries.ts";
import { findShareStateOfNew } from "../recordings/share-state.ts";
import { applyImportData } from "./import-data.ts";
import { insertRecordingMedia, type NewRecordingMedia } from "./media-queries.ts";
import { findUploadTranscripts, type UploadRow } from "./queries.ts";
import { anonymousSpeakers, participantIndexByKey, participantName } from "./speakers.ts";

/** The files of a recording that is about to exist; they are in the store already, below its id. */
export interface MadeMedia extends NewRecordingMedia {
  readonly durationMs: number;
  readonly hasThumbnail: boolean;
}

/**
 * Writes the recording an upload becomes, with everything that belongs to it and its event.
 * @returns its id, and whether it has words already.
 */
export async function createRecording(
  tx: Tx,
  { config }: { readonly config: Pick<Config, "newRecordingShareState"> },
  upload: UploadRow,
  media: MadeMedia | null,
): Promise<{ recordingId: string; hasTranscript: boolean }> {
  await holdMembership(tx, upload.workspace_id);
  const transcript = (await findUploadTranscripts(tx, [upload.id])).get(upload.id);
  const recordingId = media?.recording_id ?? randomUUIDv7();
  const people = await describeParticipants(tx, upload, transcript);
  // Somebody from outside makes a meeting external; without a sign of one it is internal.
  const external = people.some((person) => person.scope === "external");
  const start = upload.start_datetime ?? upload.created_at;
  const durationMs =
    media?.durationMs ?? transcript?.segments.reduce((end, segment) => Math.max(end, segment.end), 0) ?? 0;

  await write.insertRecording(tx, {
    id: recordingId,
    workspace_id: upload.workspace_id,
    title: upload.title,
    default_title: upload.has_default_title ? upload.title : null,
    start_datetime: start,
    end_datetime: new Date(start.getTime() + durationMs),
    duration_ms: durationMs,
    media_type: upload.media_type,
    source: "upload",
    share_state: (await findShareStateOfNew(tx, upload.workspace_id)) ?? config.newRecordingShareState,
    external,
    meeting_type_id: await findDefaultMeetingType(
      tx,
      upload.workspace_id,
      external ? "external" : "internal",
    ),
    transcript_language: transcript?.language ?? null,
    has_thumbnail: media?.hasThumbnail ?? false,
  });
  if (media !== null) {
    const { durationMs: _, hasThumbnail: __, ...row } = media;
    await insertRecordingMedia(tx, row);
  }
  await write.insertRecorders(tx, recordingId, upload.recorder_ids);
  await write.insertParticipants(tx, upload.workspace_id, recordingId, people);
  if (upload.scope === "personal" && !upload.recorder_ids.includes(upload.created_by)) {
    // Whoever uploads a meeting and credits others keeps seeing it.
    await insertUserShare(tx, recordingId, upload.created_by);
  }
  if (upload.team_id !== null) await write.insertRecordingTeam(tx, recordingId, upload.team_id);
  if (upload.import_data !== null)
    await applyImportData(
      tx,
      recordingId,
      upload.import_data,
      people,
      upload.participants.map(({ extra }) => extra),
      durationMs,
    );
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
  return { recordingId, hasTranscript: transcript !== undefined };
}

async function describeParticipants(
  tx: Tx,
  upload: UploadRow,
  transcript: TranscriptInput | undefined,
): Promise<write.NewParticipant[]> {
  const spoken = new Set(transcript?.segments.map((segment) => segment.speaker_key));
  const scopes = await participantScopes(
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
    scope: scopes[index] ?? "unknown",
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
