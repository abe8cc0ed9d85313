import {
  listMeetingTypes,
  listTeams,
  listUsers,
  MeetingTypeScope,
} from "../../../contract/workspace/directory.ts";
import { listInvitedUsers } from "../../../contract/workspace/invited-users.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { findInvitedIds, findMeetingTypes, findTeams, findUsers } from "./queries.ts";

/** Users, teams and meeting types of the token's workspace. */
export function directoryRoutes(api: Api, { db }: { db: Database }): void {
  route(api, listUsers, async ({ principal }) => ({
    users: await findUsers(db.kysely, principal.workspaceId),
  }));

  route(api, listTeams, async ({ principal }) => ({
    teams: await findTeams(db.kysely, principal.workspaceId),
  }));

  route(api, listMeetingTypes, async ({ principal }) => {
    const rows = await findMeetingTypes(db.kysely, principal.workspaceId);
    return { meeting_types: rows.map((row) => ({ ...row, scope: MeetingTypeScope.parse(row.scope) })) };
  });
}

/** What the web app shows beside the users of the directory. */
export function invitedUserRoutes(api: Api, { db }: { db: Database }): void {
  route(api, listInvitedUsers, async ({ principal }) => ({
    user_ids: await findInvitedIds(db.kysely, principal.workspaceId),
  }));
}
