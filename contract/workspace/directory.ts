import { z } from "zod";
import { Uuid } from "../common.ts";
import { operation } from "../operation.ts";

export const User = z
  .strictObject({ id: Uuid, name: z.string(), email: z.string().meta({ description: "Primary email." }) })
  .meta({ id: "User" });

export const Team = z.strictObject({ id: Uuid, name: z.string() }).meta({ id: "Team" });

export const MeetingTypeScope = z.enum(["internal", "external"]);

export const MeetingType = z
  .strictObject({ id: Uuid, name: z.string(), scope: MeetingTypeScope })
  .meta({ id: "MeetingType" });

export const listUsers = operation({
  id: "listUsers",
  tag: "Directory",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/users",
  summary: "List Users",
  description: "Lists the workspace's active users.",
  body: z.object({}),
  response: z.strictObject({ users: z.array(User) }),
  errors: [],
});

export const listTeams = operation({
  id: "listTeams",
  tag: "Directory",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/teams",
  summary: "List Teams",
  description: "Lists the workspace's teams.",
  body: z.object({}),
  response: z.strictObject({ teams: z.array(Team) }),
  errors: [],
});

export const listMeetingTypes = operation({
  id: "listMeetingTypes",
  tag: "Directory",
  gate: "every_version",
  permission: "read",
  method: "POST",
  path: "/_/public-api/v2/meeting_types",
  summary: "List Meeting Types",
  description: "Lists the workspace's meeting types, internal ones first.",
  body: z.object({}),
  response: z.strictObject({ meeting_types: z.array(MeetingType) }),
  errors: [],
});
