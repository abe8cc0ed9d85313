import dayjs from "dayjs";
import type { ApiError } from "../../api/client/api-error.ts";
import type { AttributesInput, UploadBody } from "../../api/uploads.ts";

/** A participant being edited. */
export interface DraftParticipant {
  /** The row's React key. */
  readonly key: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string | null;
  readonly speakerKey: string | null;
}

/** An upload's attributes being edited. */
export interface Draft {
  readonly title: string;
  /** `YYYY-MM-DD HH:mm:ss` in the browser's time zone. */
  readonly start: string | null;
  readonly teamId: string | null;
  readonly recorderIds: readonly string[];
  readonly participants: readonly DraftParticipant[];
}

/** The editable attributes of an upload. */
export function draftOf({ title, attributes }: UploadBody): Draft {
  const start = attributes?.start_datetime ?? null;
  return {
    title,
    start: start === null ? null : dayjs(start).format("YYYY-MM-DD HH:mm:ss"),
    teamId: attributes?.team_id ?? null,
    recorderIds: attributes?.recorder_ids ?? [],
    participants: (attributes?.participants ?? []).map((person, index) => ({
      key: String(index),
      name: person.name ?? "",
      email: person.email ?? "",
      phone: person.phone,
      speakerKey: person.speaker_key,
    })),
  };
}

/** The attributes as the API takes them. */
export function attributesOf({ title, start, teamId, recorderIds, participants }: Draft): AttributesInput {
  return {
    title,
    start_datetime: start === null ? null : dayjs(start).toISOString(),
    team_id: teamId,
    recorder_ids: [...recorderIds],
    participants: participants.map(({ name, email, phone, speakerKey }) => ({
      name: name.trim() || null,
      email: email.trim() || null,
      phone,
      speaker_key: speakerKey,
    })),
  };
}

/** The violations of one field, including nested ones. */
export function errorAt(error: ApiError | null, field: string): string | undefined {
  const pointer = `/attributes/${field}`;
  const found = error?.violations.filter(
    (one) => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`),
  );
  return found === undefined || found.length === 0 ? undefined : found.map(({ detail }) => detail).join("; ");
}
