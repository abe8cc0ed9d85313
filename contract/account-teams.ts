import { z } from "zod";
import { Success, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

const TeamParams = z.object({ team_id: Uuid });
const TeamName = z.string().trim().min(1, "must not be blank").max(200);

export const TeamWithMembers = z
  .strictObject({ id: Uuid, name: z.string(), member_ids: z.array(Uuid) })
  .meta({ id: "TeamWithMembers" });

export const WorkspaceSettings = z
  .strictObject({
    id: Uuid,
    name: z.string(),
    email_domains: z.array(z.string()).meta({
      description:
        "People with these email domains count as internal. A change holds for recordings made from then on.",
    }),
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
  description: "Name and email domains of the workspace.",
  response: WorkspaceSettings,
  errors: [],
});

export const updateWorkspace = operation({
  ...base,
  id: "updateWorkspace",
  method: "PATCH",
  path: "/_/api/v1/workspace",
  summary: "Update Workspace",
  description: "Changes name or email domains; what is left out stays.",
  body: z.object({
    name: z.string().trim().min(1, "must not be blank").max(200).optional(),
    email_domains: z.array(z.string().max(253)).max(100).optional(),
  }),
  response: WorkspaceSettings,
  errors: [...bodyErrors, "forbidden"],
});
