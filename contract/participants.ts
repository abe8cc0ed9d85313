import { z } from "zod";
import { Success, TimestampInput, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { changeErrors, isInOrder, ManagedParticipant, most } from "./recording-data.ts";
import { RecordingParams } from "./recordings.ts";

const Text = z.string().trim().min(1, "must not be blank").max(320);

const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text);

/** What may be said of a participant. What is null is unknown. */
export const participantFields = {
  name: Text.nullable().optional().meta({ description: "Without: the email, or else the phone." }),
  email: Text.refine(isEmail, "must be an email address")
    .nullable()
    .optional()
    .meta({ description: "Decides the scope, and whether a user of the workspace sees the recording." }),
  phone: Text.nullable().optional(),
  crm_contact_id: z.string().trim().min(1, "must not be blank").max(200).nullable().optional(),
  confirmed_attendee: z.boolean().optional().meta({ description: "Heard or seen in the recording." }),
  attended: z.boolean().optional().meta({
    description: "Took part as far as is known; the attendance filter goes by it.",
  }),
  observed_join_time: TimestampInput.nullable().optional(),
  observed_leave_time: TimestampInput.nullable().optional(),
} as const;

/** Whether somebody left after they joined, as far as both are known. */
export function leavesAfterJoining(times: {
  readonly observed_join_time?: string | null | undefined;
  readonly observed_leave_time?: string | null | undefined;
}): boolean {
  return isInOrder(times.observed_join_time, times.observed_leave_time);
}

export const leaveRule = { path: ["observed_leave_time"], message: "must be after observed_join_time" };

const names = ["name", "email", "phone"] as const;
/** Contract: "each needs at least one of name, email, phone". */
export const isNamed = (person: { [K in (typeof names)[number]]?: string | null | undefined }): boolean =>
  names.some((field) => Boolean(person[field]));

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
  description: `Adds somebody who took part. A recording has at most ${most.participants} participants.`,
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
    "Changes what is given and keeps the rest; null empties. A new name is also that of the speaker in the transcript.",
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
    "Removes somebody from the participants. What they said stays in the transcript under their name; their screenshares go.",
  params: ParticipantParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});
