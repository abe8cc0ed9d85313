import { z } from "zod";
import { Success, Uuid } from "./common.ts";
import { MeetingType, MeetingTypeScope } from "./directory.ts";
import { operation } from "./operation.ts";

/** More meeting types than this no workspace has. */
export const maxMeetingTypes = 200;

export const ManagedMeetingType = MeetingType.extend({
  is_default: z.boolean().meta({
    description: "What recordings of its scope get while nobody has chosen a type.",
  }),
  recordings: z.int().meta({ description: "How many recordings have it." }),
}).meta({ id: "ManagedMeetingType" });

const Name = z.string().trim().min(1, "must not be blank").max(100);
const Params = z.object({ meeting_type_id: Uuid });
const errors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
  "wrong_state",
] as const;
const IsDefault = z.boolean().optional().meta({
  description: "true: the default of its scope from now on, in the place of the one before.",
});

export const listManagedMeetingTypes = operation({
  id: "listManagedMeetingTypes",
  tag: "Meeting types",
  gate: "every_version",
  permission: "manage",
  method: "GET",
  path: "/_/api/v1/meeting_types",
  summary: "List Meeting Types (management)",
  description: "The workspace's meeting types in their order, and how many recordings have each.",
  response: z.strictObject({ meeting_types: z.array(ManagedMeetingType) }),
  errors: ["forbidden"],
});

export const createMeetingType = operation({
  id: "createMeetingType",
  tag: "Meeting types",
  gate: "every_version",
  permission: "manage",
  method: "POST",
  path: "/_/api/v1/meeting_types",
  summary: "Create Meeting Type",
  description: `Adds a meeting type after the others. A workspace has at most ${maxMeetingTypes}.`,
  body: z.object({ name: Name, scope: MeetingTypeScope, is_default: IsDefault }),
  response: ManagedMeetingType,
  errors: errors.filter((code) => code !== "not_found"),
});

export const updateMeetingType = operation({
  id: "updateMeetingType",
  tag: "Meeting types",
  gate: "every_version",
  permission: "manage",
  method: "PATCH",
  path: "/_/api/v1/meeting_types/:meeting_type_id",
  summary: "Update Meeting Type",
  description:
    "Renames a meeting type, changes its scope, or makes it the default. The default of a scope stays in that scope, and stays the default until another one is.",
  params: Params,
  body: z.object({
    name: Name.optional(),
    scope: MeetingTypeScope.optional(),
    is_default: z.literal(true).optional(),
  }),
  response: ManagedMeetingType,
  errors,
});

export const deleteMeetingType = operation({
  id: "deleteMeetingType",
  tag: "Meeting types",
  gate: "every_version",
  permission: "manage",
  method: "DELETE",
  path: "/_/api/v1/meeting_types/:meeting_type_id",
  summary: "Delete Meeting Type",
  description:
    "Removes a meeting type. One that recordings have needs reassign_to, or it is refused; the default of a scope is refused.",
  params: Params,
  query: z.object({
    reassign_to: Uuid.optional().meta({ description: "The meeting type those recordings get instead." }),
  }),
  response: Success,
  errors: ["invalid_input", "forbidden", "not_found", "wrong_state"],
});
