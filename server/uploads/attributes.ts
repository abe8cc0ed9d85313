import { parseTimestamp } from "../../contract/common.ts";
import type { UploadAttributesInput } from "../../contract/uploads.ts";
import type { UploadChanges, UploadParticipant } from "./queries.ts";

const nounOf = { transcript: "Transcript", audio: "Audio recording", video: "Video recording" } as const;

/** The title of an upload that was given none. */
export function defaultTitle(mediaType: keyof typeof nounOf, at: Date): string {
  const day = at.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  return `${nounOf[mediaType]} of ${day}`;
}

/** The attributes given, as columns; what is absent stays absent. */
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
