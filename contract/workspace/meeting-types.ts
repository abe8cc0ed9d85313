import { z } from "zod";
import { Success, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { MeetingType, MeetingTypeScope } from "./directory.ts";
import { SpokenLanguage, Vocabulary } from "./spoken-language.ts";

/** Maximum number of meeting types per workspace. */
export const maxMeetingTypes = 200;

export const ManagedMeetingType = MeetingType.extend({
  is_default: z.boolean().meta({
    description: "Whether recordings of its scope get it automatically.",
  }),
  recordings: z.int().meta({ description: "Number of recordings with this type." }),
  spoken_language: z.string().nullable().meta({
    description: "Language of its meetings, for transcription. null: the workspace's.",
  }),
  vocabulary: z.array(z.string()).meta({
    description: "Names and terms that the speech model should know, beside the workspace's.",
  }),
}).meta({ id: "ManagedMeetingType" });

const Name = z.string().trim().min(1, "must not be blank").max(100);
const Params = z.object({ meeting_type_id: Uuid });
const speech = {
  spoken_language: SpokenLanguage.optional(),
  vocabulary: Vocabulary.optional(),
};
const errors = [
  "invalid_json",
  "invalid_input",
  "body_too_large",
  "forbidden",
  "not_found",
  "wrong_state",
] as const;
const IsDefault = z.boolean().optional().meta({
  description: "true: make it the default of its scope, replacing the current one.",
});

export const listManagedMeetingTypes = operation({
  id: "listManagedMeetingTypes",
  tag: "Meeting types",
  gate: "every_version",
  permission: "manage",
  method: "GET",
  path: "/_/api/v1/meeting_types",
  summary: "List Meeting Types (management)",
  description: "Lists the workspace's meeting types in order, with their number of recordings.",
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
  description: `Adds a meeting type at the end. A workspace can have at most ${maxMeetingTypes}.`,
  body: z.object({ name: Name, scope: MeetingTypeScope, is_default: IsDefault, ...speech }),
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
    "Changes a meeting type, or makes it the default. A default can't change its scope, and stays the default until another type replaces it.",
  params: Params,
  body: z.object({
    name: Name.optional(),
    scope: MeetingTypeScope.optional(),
    is_default: z.literal(true).optional(),
    ...speech,
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
    "Deletes a meeting type. Returns 409 for the default of a scope, and for a type in use unless `reassign_to` is given.",
  params: Params,
  query: z.object({
    reassign_to: Uuid.optional().meta({ description: "The meeting type its recordings get instead." }),
  }),
  response: Success,
  errors: ["invalid_input", "forbidden", "not_found", "wrong_state"],
});
