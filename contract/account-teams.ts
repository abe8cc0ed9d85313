import { z } from "zod";
import { Success, Uuid } from "./common.ts";
import { operation } from "./operation.ts";
import { ShareState } from "./recordings.ts";

const TeamParams = z.object({ team_id: Uuid });
const TeamName = z.string().trim().min(1, "must not be blank").max(200);

export const TeamWithMembers = z
  .strictObject({ id: Uuid, name: z.string(), member_ids: z.array(Uuid) })
  .meta({ id: "TeamWithMembers" });

const NewRecordings = z.enum(["server_setting", "restricted", "workspace"]).meta({
  description:
    "Who sees a new recording: those it belongs to alone, everybody in the workspace, or what the server's operator has set.",
});

export const WorkspaceSettings = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email_domains: z.array(z.string()).meta({
      description:
        "People with these email domains count as internal. A change holds for recordings made from then on.",
    }),
    new_recordings: NewRecordings,
    new_recording_share_state: ShareState.meta({
      description: "What that comes to: how a recording is shared that is made now.",
    }),
    single_sign_on: z
      .strictObject({
        name: z.string().meta({ description: "What the server's operator calls it." }),
        makes_accounts: z.boolean().meta({
          description:
            "Whether people of the workspace's email domains get an account when they sign in by it for the first time.",
        }),
      })
      .nullable()
      .meta({ description: "Null: the server has none." }),
  })
  .meta({ id: "WorkspaceSettings" });

const bodyErrors = ["invalid_json", "invalid_input", "body_too_large"] as const;
const base = { tag: "People", gate: "every_version", permission: "admin" } as const;

export const listTeamMembers = operation({
  ...base,
  permission: "read",
  id: "listTeamMembers",
  method: "GET",
  path: "/_/api/v1/teams",
  summary: "List Teams With Members",
  description: "The teams of the workspace by name, and the active users in each.",
  response: z.strictObject({ teams: z.array(TeamWithMembers) }),
  errors: [],
});

export const createTeam = operation({
  ...base,
  id: "createTeam",
  method: "POST",
  path: "/_/api/v1/teams",
  summary: "Create Team",
  description: "Makes a team.",
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
  description: "Gives a team another name.",
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
  description:
    "Removes a team. What was shared with it is shared with it no longer; recordings and people stay.",
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
  description: "Puts a user into a team; from then on they see what is shared with it.",
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
  description: "Takes a user out of a team.",
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
  description: "Name, email domains and defaults of the workspace.",
  response: WorkspaceSettings,
  errors: [],
});

export const updateWorkspace = operation({
  ...base,
  id: "updateWorkspace",
  method: "PATCH",
  path: "/_/api/v1/workspace",
  summary: "Update Workspace",
  description: "Changes name, email domains or who sees new recordings; what is left out stays.",
  body: z.object({
    name: z.string().trim().min(1, "must not be blank").max(200).optional(),
    email_domains: z.array(z.string().max(253)).max(100).optional(),
    new_recordings: NewRecordings.optional(),
  }),
  response: WorkspaceSettings,
  errors: [...bodyErrors, "forbidden"],
});
