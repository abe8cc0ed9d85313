import type { UploadAttributesInput } from "../../../../contract/uploads/uploads.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import type { UploadParticipant } from "../../../platform/db/json-columns.ts";
import type { UploadChanges } from "../queries.ts";

const nounOf = { transcript: "Transcript", audio: "Audio recording", video: "Video recording" } as const;

/** The title of an upload created without one. */
export function defaultTitle(mediaType: keyof typeof nounOf, at: Date): string {
  const day = at.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  return `${nounOf[mediaType]} of ${day}`;
}

/** The given attributes as columns; absent attributes stay absent. */
export function toChanges(input: UploadAttributesInput): UploadChanges {
  const title = input.title?.trim();
  return {
    ...(title ? { title } : {}),
    ...(input.start_datetime === undefined
      ? {}
      : { start_datetime: input.start_datetime === null ? null : parseTimestamp(input.start_datetime) }),
    ...(input.team_id === undefined ? {} : { team_id: input.team_id?.toLowerCase() ?? null }),
    ...(input.recorder_ids === undefined
      ? {}
      : { recorder_ids: [...new Set(input.recorder_ids.map((id) => id.toLowerCase()))] }),
    ...(input.participants === undefined ? {} : { participants: input.participants.map(toParticipant) }),
  };
}

function toParticipant(input: NonNullable<UploadAttributesInput["participants"]>[number]): UploadParticipant {
  return {
    name: input.name?.trim() || null,
    email: input.email?.trim() || null,
    phone: input.phone?.trim() || null,
    speaker_key: input.speaker_key ?? null,
  };
}
