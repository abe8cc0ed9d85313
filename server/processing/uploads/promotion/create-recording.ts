import { randomUUIDv7 } from "node:crypto";
import { completeFields } from "../../../../contract/recordings/fields.ts";
import type { TranscriptInput } from "../../../../contract/uploads/uploads.ts";
import { holdMembership } from "../../../people/access/grants.ts";
import { findDefaultMeetingType, holdMeetingType } from "../../../people/directory/queries.ts";
import { recordAudit, serverItself } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { UploadParticipant } from "../../../platform/db/json-columns.ts";
import { insertImportedComments } from "../../../recordings/comments/import.ts";
import * as write from "../../../recordings/recordings/create.ts";
import { participantScopes } from "../../../recordings/recordings/participant-scope.ts";
import { findShareStateOfNew } from "../../../recordings/recordings/share/share-state.ts";
import { finishImport, partsOfImport } from "../import-data.ts";
import { insertRecordingMedia, type NewRecordingMedia } from "../media-queries.ts";
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

  const data = upload.import_data;
  const parts = partsOfImport(upload, people, durationMs);
  // Users who upload a meeting and credit only others keep access to it.
  const isForOthers = !upload.recorder_ids.includes(upload.created_by);
  const uploader = isForOthers && upload.scope === "personal" ? [upload.created_by] : [];
  await write.createRecording(tx, {
    ...parts,
    values: {
      ...completeFields({
        ...data,
        share_state:
          data?.share_state ??
          (await findShareStateOfNew(tx, upload.workspace_id)) ??
          config.newRecordingShareState,
      }),
      ...parts.values,
      ...(await chooseMeetingType(tx, upload, external)),
      id: recordingId,
      workspace_id: upload.workspace_id,
      title: upload.title,
      default_title: upload.has_default_title ? upload.title : null,
      start_datetime: start,
      start_ground: groundOf(upload),
      end_datetime: new Date(start.getTime() + durationMs),
      duration_ms: durationMs,
      media_type: upload.media_type,
      external,
      transcript_language: transcript?.language ?? null,
      has_thumbnail: media?.hasThumbnail ?? false,
    },
    recorderIds: upload.recorder_ids,
    participants: people,
    teamIds: [...(upload.team_id === null ? [] : [upload.team_id]), ...(data?.team_ids ?? [])],
    sharedUserIds: [...uploader, ...(parts.sharedUserIds ?? [])],
    segments: transcript === undefined ? [] : attributeSegments(transcript, upload, people),
  });
  await insertImportedComments(
    tx,
    { id: recordingId, workspaceId: upload.workspace_id, durationMs },
    data?.moved?.comments ?? [],
  );
  if (media !== null) {
    const { durationMs: _, hasThumbnail: __, ...row } = media;
    await insertRecordingMedia(tx, row);
  }
  if (data !== null) await finishImport(tx, upload.id, recordingId);
  if (isForOthers) await auditUploader(tx, upload, recordingId);
  return { recordingId, hasTranscript: transcript !== undefined };
}

/** How the start is known, where neither the sender nor the file states it. */
function groundOf({ start_datetime: start, facts }: UploadRow): "upload" | "modified" | null {
  if (start === null) return "upload";
  const found = facts?.start;
  return found?.from === "modified" && found.at === start.toISOString() ? "modified" : null;
}

/** Its meeting type, which no one deletes until the transaction ends. One that was chosen and is gone by now is not used. */
async function chooseMeetingType(
  tx: Tx,
  { workspace_id: workspaceId, import_data: data }: UploadRow,
  isExternal: boolean,
): Promise<{ meeting_type_id: string | null; meeting_type_by_hand: boolean }> {
  const chosen = data?.moved?.meeting_type_id ?? data?.meeting_type_id ?? null;
  const isKnown = chosen !== null && (await holdMeetingType(tx, workspaceId, chosen));
  if (data?.moved !== undefined)
    return {
      meeting_type_id: isKnown ? chosen : null,
      meeting_type_by_hand: data.moved.meeting_type_by_hand,
    };
  if (isKnown) return { meeting_type_id: chosen, meeting_type_by_hand: true };
  const byParticipants = await findDefaultMeetingType(tx, workspaceId, isExternal ? "external" : "internal");
  return { meeting_type_id: byParticipants, meeting_type_by_hand: false };
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
  const isHeard = (participant: UploadParticipant, index: number): boolean =>
    upload.media_type === "transcript"
      ? participant.speaker_key !== null &&
        spoken.has(participant.speaker_key) &&
        claimed.get(participant.speaker_key) === index
      : // A participant is unconfirmed only if the transcript has no words under their key.
        transcript === undefined || participant.speaker_key === null || spoken.has(participant.speaker_key);
  return upload.participants.map((participant, index) => {
    const { extra = {} } = participant;
    return {
      id: randomUUIDv7(),
      name: participantName(participant),
      email: participant.email,
      phone: participant.phone,
      scope: extra.scope ?? scopes[index] ?? "unknown",
      // Who did not attend was not there either, unless the import says otherwise.
      confirmed_attendee:
        extra.confirmed_attendee ?? (isHeard(participant, index) && extra.attended !== false),
      // The upload's creator states that its participants took part, whether or not they spoke.
      attended: extra.attended ?? true,
      is_invited: extra.is_invited ?? false,
      crm_contact_id: extra.crm_contact_id ?? null,
      observed_join_time: extra.observed_join_time ?? null,
      observed_leave_time: extra.observed_leave_time ?? null,
    };
  });
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
