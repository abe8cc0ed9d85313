import { randomUUIDv7 } from "node:crypto";
import type { TranscriptInput } from "../../../../contract/uploads/uploads.ts";
import { holdMembership, syncGrants } from "../../../people/access/grants.ts";
import { findDefaultMeetingType } from "../../../people/directory/queries.ts";
import { recordAudit, serverItself } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Tx } from "../../../platform/db/database.ts";
import * as write from "../../../recordings/recordings/create.ts";
import { participantScopes } from "../../../recordings/recordings/participant-scope.ts";
import { insertUserShare } from "../../../recordings/recordings/share/queries.ts";
import { findShareStateOfNew } from "../../../recordings/recordings/share/share-state.ts";
import { applyImportData, createImportedHighlights, createImportedNotes } from "../import-data.ts";
import { insertRecordingMedia, type NewRecordingMedia } from "../media-queries.ts";
import { applyMovedData, finishMove } from "../moved-data.ts";
import { findUploadTranscripts, type UploadRow } from "../queries.ts";
import { anonymousSpeakers, participantIndexByKey, participantName } from "../speakers.ts";

/** The files of a recording that is about to exist; they are already stored below its id. */
export interface StoredMedia extends NewRecordingMedia {
  readonly durationMs: number;
  readonly hasThumbnail: boolean;
}

/**
 * Writes an upload's recording with all its parts. The caller announces it (`announceRecording`) once transcription and
 * summary have been requested.
 * @returns its id, and whether it has a transcript already.
 */
export async function createRecording(
  tx: Tx,
  { config }: { readonly config: Pick<Config, "newRecordingShareState"> },
  upload: UploadRow,
  media: StoredMedia | null,
): Promise<{ recordingId: string; hasTranscript: boolean }> {
  await holdMembership(tx, upload.workspace_id);
  const transcript = (await findUploadTranscripts(tx, [upload.id])).get(upload.id);
  const recordingId = media?.recording_id ?? randomUUIDv7();
  const people = await describeParticipants(tx, upload, transcript);
  // One external participant makes the meeting external; otherwise it is internal.
  const external = people.some((person) => person.scope === "external");
  const durationMs =
    media?.durationMs ??
    (transcript?.segments ?? []).reduce(
      (end, segment) => Math.max(end, segment.end),
      upload.import_data?.moved?.duration_ms ?? 0,
    );
  // Without a stated start, the meeting ended when its upload was created at the latest.
  const start = upload.start_datetime ?? new Date(upload.created_at.getTime() - durationMs);

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
    // Users who upload a meeting and credit only others keep access to it.
    await insertUserShare(tx, recordingId, upload.created_by);
  }
  if (upload.team_id !== null) await write.insertRecordingTeam(tx, recordingId, upload.team_id);
  if (upload.import_data !== null) {
    await applyImportData(
      tx,
      recordingId,
      upload.import_data,
      people,
      upload.participants.map(({ extra }) => extra),
      durationMs,
    );
    await createImportedHighlights(tx, upload, upload.import_data, { recordingId, durationMs });
    await createImportedNotes(tx, upload, upload.import_data, recordingId);
    if (upload.import_data.moved !== undefined)
      await applyMovedData(tx, upload, recordingId, upload.import_data.moved, people);
  }
  if (transcript !== undefined) {
    await write.insertSegments(tx, recordingId, attributeSegments(transcript, upload, people));
  }
  if (upload.import_data !== null) await finishMove(tx, upload.id, recordingId);
  await syncGrants(tx, [recordingId]);
  if (!upload.recorder_ids.includes(upload.created_by)) await auditUploader(tx, upload, recordingId);
  return { recordingId, hasTranscript: transcript !== undefined };
}

/** Records the uploader of a recording that credits only others as its recorders. */
async function auditUploader(tx: Tx, upload: UploadRow, recordingId: string): Promise<void> {
  const { email_key } = await tx
    .selectFrom("users")
    .select("email_key")
    .where("id", "=", upload.created_by)
    .executeTakeFirstOrThrow();
  await recordAudit(
    tx,
    { ...serverItself(upload.workspace_id), userId: upload.created_by, userEmail: email_key },
    {
      action: "recording_uploaded_for_others",
      subject: { type: "recording", id: recordingId },
      details: { upload_id: upload.id, scope: upload.scope, recorder_ids: upload.recorder_ids },
    },
  );
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
    scope: participant.extra?.scope ?? scopes[index] ?? "unknown",
    confirmed_attendee:
      upload.media_type === "transcript"
        ? participant.speaker_key !== null &&
          spoken.has(participant.speaker_key) &&
          claimed.get(participant.speaker_key) === index
        : // A participant is unconfirmed only if the transcript has no words under their key.
          transcript === undefined || participant.speaker_key === null || spoken.has(participant.speaker_key),
    // The upload's creator states that its participants took part, whether or not they spoke.
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
  const { speakers, word_times: wordTimes } = upload.import_data?.moved ?? {};
  return transcript.segments
    .map((segment, index) => ({ ...segment, word_times: wordTimes?.[index] ?? null }))
    .toSorted((a, b) => a.start - b.start)
    .map((segment) => {
      const person = people[claimed.get(segment.speaker_key) ?? -1];
      return {
        participant_id: person?.id ?? null,
        speaker:
          speakers?.[segment.speaker_key] ??
          person?.name ??
          anonymous.get(segment.speaker_key) ??
          "Unknown Speaker",
        start_ms: segment.start,
        end_ms: segment.end,
        text: segment.text,
        word_times: segment.word_times,
      };
    });
}
