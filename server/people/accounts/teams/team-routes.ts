import * as contract from "../../../../contract/accounts/account-teams.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import * as service from "./teams.ts";

/** Teams and their members. */
export function teamRoutes(api: Api, { db }: { readonly db: Database }): void {
  const change = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.kysely.transaction().execute(work);
  const readOne = async (workspaceId: string, teamId: string) => {
    const [team] = await service.findTeamsWithMembers(db.kysely, workspaceId, teamId);
    if (team === undefined)
      throw new ProblemError("not_found", `there is no team ${teamId} in this workspace`);
    return team;
  };

  route(api, contract.listTeamMembers, async ({ principal }) => ({
    teams: await service.findTeamsWithMembers(db.kysely, principal.workspaceId),
  }));

  route(api, contract.createTeam, async ({ principal, request, body }) => {
    const id = await change((tx) =>
      service.createTeam(tx, actorOf(request), { name: body.name, memberIds: body.member_ids ?? [] }),
    );
    return readOne(principal.workspaceId, id);
  });

  route(api, contract.renameTeam, async ({ principal, request, params, body }) => {
    await change((tx) => service.renameTeam(tx, actorOf(request), params.team_id, body.name));
    return readOne(principal.workspaceId, params.team_id);
  });

  route(api, contract.deleteTeam, async ({ request, params }) => {
    await change((tx) => service.deleteTeam(tx, actorOf(request), params.team_id));
    return { success: true as const };
  });

  route(api, contract.addTeamMember, async ({ principal, request, params, body }) => {
    await change((tx) => service.addMember(tx, actorOf(request), params.team_id, body.user_id));
    return readOne(principal.workspaceId, params.team_id);
  });

  route(api, contract.removeTeamMember, async ({ principal, request, params }) => {
    await change((tx) => service.removeMember(tx, actorOf(request), params.team_id, params.user_id));
    return readOne(principal.workspaceId, params.team_id);
  });
}
