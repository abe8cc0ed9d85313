import { sql } from "kysely";
import type { Principal } from "../../server/access/principal.ts";
import { createTeam, createUser, createWorkspace, findUserByEmail } from "../../server/accounts/service.ts";
import type { Database } from "../../server/db/database.ts";
import { demoWorkspace } from "./workspace.ts";

/** People of the sample workspace and its teams by name and email. */
export interface Cast {
  /** Whether this run made the people. */
  readonly isNew: boolean;
  readonly workspaceId: string;
  readonly membersId: string;
  readonly users: ReadonlyMap<string, string>;
  readonly teams: ReadonlyMap<string, string>;
}

/** The sample workspace with its people and teams; made where it is not there. Two runs at once make one. */
export async function ensureCast(db: Database, adminPassword: string): Promise<Cast> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`lock table workspaces in share row exclusive mode`.execute(tx);
    const [firstPerson] = demoWorkspace.people;
    const found = firstPerson && (await findUserByEmail(tx, firstPerson.email));
    const workspaceId = found?.workspace_id ?? (await createWorkspace(tx, demoWorkspace)).id;
    if (!found) {
      for (const { name, email, role } of demoWorkspace.people)
        await createUser(tx, {
          workspaceId,
          name,
          email,
          role,
          ...(role === "admin" ? { password: adminPassword } : {}),
        });
      for (const name of demoWorkspace.teams) {
        const memberEmails = demoWorkspace.people
          .filter((person) => person.teams.includes(name))
          .map(({ email }) => email);
        await createTeam(tx, { workspaceId, name, memberEmails });
      }
    }
    const users = await tx
      .selectFrom("users")
      .select(["id", "email"])
      .where("workspace_id", "=", workspaceId)
      .execute();
    const teams = await tx
      .selectFrom("teams")
      .select(["id", "name"])
      .where("workspace_id", "=", workspaceId)
      .execute();
    const workspace = await tx
      .selectFrom("workspaces")
      .select("members_id")
      .where("id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    return {
      isNew: !found,
      workspaceId,
      membersId: workspace.members_id,
      users: new Map(users.map((user) => [user.email, user.id])),
      teams: new Map(teams.map((team) => [team.name, team.id])),
    };
  });
}

/** One of the people, as with a token of their own. */
export function principalOf(cast: Cast, email: string): Principal {
  const userId = required(cast.users, email);
  const person = demoWorkspace.people.find((known) => known.email === email);
  const teamIds = (person?.teams ?? []).map((name) => required(cast.teams, name));
  return {
    tokenId: userId,
    tokenType: "personal_access_token",
    scope: "personal",
    workspaceId: cast.workspaceId,
    userId,
    role: "member",
    emailKey: email,
    name: person?.name ?? email,
    expiresAt: null,
    sees: [userId, cast.membersId, ...teamIds],
  };
}

/** @throws Error where somebody has taken it out of the workspace. */
export function required(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the sample workspace has no ${name}`);
  return id;
}
