import { z } from "zod";
import { Success, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { ShareState } from "../recordings/recordings.ts";
import { SpokenLanguage, Vocabulary } from "../workspace/spoken-language.ts";

const TeamParams = z.object({ team_id: Uuid });
const TeamName = z.string().trim().min(1, "must not be blank").max(200);

export const TeamWithMembers = z
  .strictObject({ id: Uuid, name: z.string(), member_ids: z.array(Uuid) })
  .meta({ id: "TeamWithMembers" });

const NewRecordings = z.enum(["server_setting", "restricted", "workspace"]).meta({
  description:
    "Who sees new recordings: only people with access (`restricted`), all workspace members (`workspace`), or the server's default (`server_setting`).",
});

const RecordingAdded = z.enum(["when_ready", "immediately"]).meta({
  description:
    "When `recording_added` is sent. `when_ready`: once transcription and the language model have finished or failed, after an hour at the latest. `immediately`: as soon as the recording exists. Without configured models both are the same.",
});

const TrashDays = z.int().min(0).max(365);

export const WorkspaceSettings = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email_domains: z.array(z.string()).meta({
      description:
        "Participants with these email domains are internal. A change applies to new recordings only.",
    }),
    new_recordings: NewRecordings,
    new_recording_share_state: ShareState.meta({
      description: "The resulting share_state of a new recording.",
    }),
    recording_added: RecordingAdded,
    spoken_language: z.string().nullable().meta({
      description:
        "Language of the meetings, for transcription. null: the server's setting, or the model detects it. A meeting type or an upload may have another.",
    }),
    vocabulary: z.array(z.string()).meta({
      description: "Names and terms that the speech model should know, beside the participants' names.",
    }),
    resolves_old_ids: z.boolean().meta({
      description:
        "Whether the ids that imported recordings had elsewhere find them, in links and API calls.",
    }),
    recording_consent: z.string().nullable().meta({
      description:
        "Reminder shown before a recording in the web app, for example about consent. Null: the app's own text.",
    }),
    trash_days: TrashDays.meta({
      description:
        "Days that deleted recordings stay in the trash; 0: they are deleted permanently at once. A change also applies to recordings that are in the trash already.",
    }),
    voice_profiles: z.boolean().meta({
      description: "Whether voices can be remembered, with consent, and are recognized. Default: false.",
    }),
    self_registered_apps: z.boolean().meta({
      description:
        "Whether members may authorize apps that registered themselves, such as assistants. Turning it off revokes their access. Default: true.",
    }),
    single_sign_on: z
      .strictObject({
        name: z.string().meta({ description: "The provider's display name, set by the server's operator." }),
        makes_accounts: z.boolean().meta({
          description:
            "Whether a user with an email in one of the workspace's claimed domains gets an account at their first single sign-on.",
        }),
      })
      .nullable()
      .meta({ description: "Null: single sign-on is not configured." }),
  })
  .meta({ id: "WorkspaceSettings" });

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "Users and teams", gate: "every_version", permission: "admin" } as const;

export const listTeamMembers = operation({
  ...base,
  permission: "read",
  id: "listTeamMembers",
  method: "GET",
  path: "/_/api/v1/teams",
  summary: "List Teams With Members",
  description: "Lists the workspace's teams by name, with their active members.",
  response: z.strictObject({ teams: z.array(TeamWithMembers) }),
  errors: [],
});

export const createTeam = operation({
  ...base,
  id: "createTeam",
  method: "POST",
  path: "/_/api/v1/teams",
  summary: "Create Team",
  description: "Creates a team.",
  body: z.object({ name: TeamName, member_ids: z.array(Uuid).max(1000).optional() }),
  response: TeamWithMembers,
  errors: [...bodyErrors, "forbidden", "wrong_state"],
});

export const renameTeam = operation({
  ...base,
  id: "renameTeam",
  method: "PATCH",
  path: "/_/api/v1/teams/:team_id",
  summary: "Rename Team",
  description: "Renames a team.",
  params: TeamParams,
  body: z.object({ name: TeamName }),
  response: TeamWithMembers,
  errors: [...bodyErrors, "forbidden", "not_found", "wrong_state"],
});

export const deleteTeam = operation({
  ...base,
  id: "deleteTeam",
  method: "DELETE",
  path: "/_/api/v1/teams/:team_id",
  summary: "Delete Team",
  description: "Deletes a team and its shares. Recordings and users are kept.",
  params: TeamParams,
  response: Success,
  errors: ["forbidden", "not_found"],
});

export const addTeamMember = operation({
  ...base,
  id: "addTeamMember",
  method: "PUT",
  path: "/_/api/v1/teams/:team_id/members",
  summary: "Add Team Member",
  description: "Adds a user to a team. They then see recordings shared with it.",
  params: TeamParams,
  body: z.object({ user_id: Uuid }),
  response: TeamWithMembers,
  errors: [...bodyErrors, "forbidden", "not_found"],
});

export const removeTeamMember = operation({
  ...base,
  id: "removeTeamMember",
  method: "DELETE",
  path: "/_/api/v1/teams/:team_id/members/:user_id",
  summary: "Remove Team Member",
  description: "Removes a user from a team.",
  params: z.object({ team_id: Uuid, user_id: Uuid }),
  response: TeamWithMembers,
  errors: ["forbidden", "not_found"],
});

export const getWorkspace = operation({
  ...base,
  permission: "read",
  id: "getWorkspace",
  method: "GET",
  path: "/_/api/v1/workspace",
  summary: "Get Workspace",
  description: "Returns the workspace's name, email domains and defaults.",
  response: WorkspaceSettings,
  errors: [],
});

export const updateWorkspace = operation({
  ...base,
  id: "updateWorkspace",
  method: "PATCH",
  path: "/_/api/v1/workspace",
  summary: "Update Workspace",
  description: "Changes the workspace's settings. Fields that are left out keep their values.",
  body: z.object({
    name: z.string().trim().min(1, "must not be blank").max(200).optional(),
    email_domains: z.array(z.string().max(253)).max(100).optional(),
    new_recordings: NewRecordings.optional(),
    recording_added: RecordingAdded.optional(),
    spoken_language: SpokenLanguage.optional(),
    vocabulary: Vocabulary.optional(),
    resolves_old_ids: z.boolean().optional(),
    recording_consent: z.string().trim().max(2000).nullable().optional().meta({
      description: "Null or empty: the app's own text.",
    }),
    trash_days: TrashDays.optional(),
    voice_profiles: z.boolean().optional(),
    self_registered_apps: z.boolean().optional(),
  }),
  response: WorkspaceSettings,
  errors: [...bodyErrors, "forbidden"],
});
