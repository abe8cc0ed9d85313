import * as contract from "../../contract/account-teams.ts";
import { actorOf, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import { AccountError, readDomain } from "./service.ts";
import * as service from "./teams.ts";

/** Teams and the workspace itself. */
export function teamRoutes(api: Api, { db }: { readonly db: Database }): void {
  const change = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => db.kysely.transaction().execute(work);
  const readOne = async (workspaceId: string, teamId: string) => {
    const [team] = await service.findTeamsWithMembers(db.kysely, workspaceId, teamId);
    if (team === undefined)
      throw new ProblemError("not_found", `there is no team ${teamId} in this workspace`);
    return team;
  };
  const readWorkspace = (id: string) =>
    db.kysely
      .selectFrom("workspaces")
      .select(["id", "name", "email_domains"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();

  route(api, contract.listTeamMembers, async ({ principal }) => ({
    teams: await service.findTeamsWithMembers(db.kysely, principal.workspaceId),
  }));

  route(api, contract.createTeam, async ({ principal, request, body }) => {
    const id = await change((tx) =>
      service.makeTeam(tx, actorOf(request), { name: body.name, memberIds: body.member_ids ?? [] }),
    );
    return readOne(principal.workspaceId, id);
  });

  route(api, contract.renameTeam, async ({ principal, request, params, body }) => {
    await change((tx) => service.renameTeam(tx, actorOf(request), params.team_id, body.name));
    return readOne(principal.workspaceId, params.team_id);
  });

  route(api, contract.deleteTeam, async ({ request, params }) => {
    await change((tx) => service.removeTeam(tx, actorOf(request), params.team_id));
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

  route(api, contract.getWorkspace, ({ principal }) => readWorkspace(principal.workspaceId));

  route(api, contract.updateWorkspace, async ({ principal, request, body }) => {
    const changes = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.email_domains === undefined ? {} : { email_domains: readDomains(body.email_domains) }),
    };
    if (Object.keys(changes).length > 0)
      await change(async (tx) => {
        await tx.updateTable("workspaces").set(changes).where("id", "=", principal.workspaceId).execute();
        await recordAudit(tx, actorOf(request), {
          action: "settings_changed",
          subject: { type: "workspace", id: principal.workspaceId },
          details: changes,
        });
      });
    return readWorkspace(principal.workspaceId);
  });
}

function readDomains(given: readonly string[]): string[] {
  const domains = given.map((text, index) => {
    try {
      return readDomain(text);
    } catch (error) {
      if (error instanceof AccountError)
        throw invalidInput([{ pointer: `/email_domains/${index}`, detail: error.message }]);
      throw error;
    }
  });
  return [...new Set(domains)];
}
