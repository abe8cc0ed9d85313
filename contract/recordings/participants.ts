import { z } from "zod";
import { isInOrder, Success, TimestampInput, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { changeErrors, ManagedParticipant } from "./recording-data.ts";
import { RecordingParams, recordingLimits } from "./recordings.ts";

const Text = z.string().trim().min(1, "must not be blank").max(320);

const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

/** Fields of a participant in requests. Null means unknown. */
export const participantFields = {
  name: Text.nullable().optional().meta({ description: "Default: the email, or else the phone." }),
  email: Text.refine(isEmail, "must be an email address").nullable().optional().meta({
    description:
      "Determines the scope, and gives the workspace user with this email access to the recording.",
  }),
  phone: Text.nullable().optional(),
  crm_contact_id: z.string().trim().min(1, "must not be blank").max(200).nullable().optional(),
  confirmed_attendee: z.boolean().optional().meta({ description: "Present in the recording." }),
  attended: z.boolean().optional().meta({
    description: "Whether they took part; used by the attendance filter.",
  }),
  observed_join_time: TimestampInput.nullable().optional(),
  observed_leave_time: TimestampInput.nullable().optional(),
} as const;

/** Whether the leave time is after the join time; true if either is unknown. */
export function leavesAfterJoining(times: {
  readonly observed_join_time?: string | null | undefined;
  readonly observed_leave_time?: string | null | undefined;
}): boolean {
  return isInOrder(times.observed_join_time, times.observed_leave_time);
}

export const leaveRule = { path: ["observed_leave_time"], message: "must be after observed_join_time" };

const names = ["name", "email", "phone"] as const;
/** Contract: "each needs at least one of name, email, phone". */
export const isNamed = (
  participant: { [K in (typeof names)[number]]?: string | null | undefined },
): boolean => names.some((field) => Boolean(participant[field]));

export const nameRule = "must have at least one of name, email or phone";

export const ParticipantInput = z
  .object(participantFields)
  .refine(isNamed, nameRule)
  .refine(leavesAfterJoining, leaveRule)
  .meta({ id: "ParticipantInput" });
export type ParticipantInput = z.output<typeof ParticipantInput>;

const ParticipantChanges = z
  .object(participantFields)
  .refine(leavesAfterJoining, leaveRule)
  .meta({ id: "ParticipantChanges" });
export type ParticipantChanges = z.output<typeof ParticipantChanges>;

const ParticipantParams = RecordingParams.extend({ participant_id: Uuid });

export const createParticipant = operation({
  id: "createParticipant",
  tag: "Recording data",
  gate: "every_version",
  permission: "write",
  method: "POST",
  path: "/_/api/v1/recordings/:recording_id/participants",
  summary: "Create Participant",
  description: `Adds a participant. A recording can have at most ${recordingLimits.participants}.`,
  params: RecordingParams,
  body: ParticipantInput,
  response: ManagedParticipant,
  errors: [...changeErrors, "wrong_state"],
});

export const updateParticipant = operation({
  id: "updateParticipant",
  tag: "Recording data",
  gate: "every_version",
  permission: "write",
  method: "PATCH",
  path: "/_/api/v1/recordings/:recording_id/participants/:participant_id",
  summary: "Update Participant",
  description:
    "Changes a participant. Fields that are left out keep their values; null clears them. A new name also renames the speaker in the transcript.",
  params: ParticipantParams,
  body: ParticipantChanges,
  response: ManagedParticipant,
  errors: changeErrors,
});

export const deleteParticipant = operation({
  id: "deleteParticipant",
  tag: "Recording data",
  gate: "every_version",
  permission: "write",
  method: "DELETE",
  path: "/_/api/v1/recordings/:recording_id/participants/:participant_id",
  summary: "Delete Participant",
  description:
    "Removes a participant. Their lines stay in the transcript under their name; their screenshares are deleted.",
  params: ParticipantParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
