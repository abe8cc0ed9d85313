import { z } from "zod";
import { Uuid } from "../common.ts";
import { operation } from "../operation.ts";

export const listInvitedUsers = operation({
  id: "listInvitedUsers",
  tag: "Users and teams",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/api/v1/users/invited",
  summary: "List Invited Users",
  description:
    "Lists those of List Users who have not accepted their invitation yet. What is shared with them, and where they are mentioned, they see once they have.",
  response: z.strictObject({ user_ids: z.array(Uuid) }),
  errors: [],
});
