import { sql } from "kysely";
import {
  createTeam,
  createUser,
  createWorkspace,
  findUserByEmail,
} from "../../server/people/accounts/service.ts";
import { hashPassword } from "../../server/people/accounts/sign-in/passwords.ts";
import type { Principal } from "../../server/platform/auth/principal.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { demoWorkspace } from "../content/workspace.ts";

/** The sample workspace's ids: users by email, teams by name. */
export interface DemoAccounts {
  /** Whether this run created the users. */
  readonly isNew: boolean;
  readonly workspaceId: string;
  readonly membersId: string;
  readonly users: ReadonlyMap<string, string>;
  readonly teams: ReadonlyMap<string, string>;
}

/** Creates the sample workspace with its users and teams unless it exists. Concurrent runs create one. */
export async function ensureAccounts(db: Database, password: string): Promise<DemoAccounts> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`lock table workspaces in share row exclusive mode`.execute(tx);
    const [firstUser] = demoWorkspace.users;
    const found = firstUser && (await findUserByEmail(tx, firstUser.email));
    const workspaceId = found?.workspace_id ?? (await createWorkspace(tx, demoWorkspace)).id;
    if (!found) {
      const passwordHash = await hashPassword(password);
      for (const { name, email, role } of demoWorkspace.users)
        await createUser(tx, {
          workspaceId,
          name,
          email,
          role,
          passwordHash,
        });
      for (const name of demoWorkspace.teams) {
        const memberEmails = demoWorkspace.users
          .filter((user) => user.teams.includes(name))
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

/** One of the users, as authenticated by a personal access token. */
export function principalOf(accounts: DemoAccounts, email: string): Principal {
  const userId = requireId(accounts.users, email);
  const user = demoWorkspace.users.find((known) => known.email === email);
  const teamIds = (user?.teams ?? []).map((name) => requireId(accounts.teams, name));
  return {
    tokenId: userId,
    tokenType: "personal_access_token",
    scope: "personal",
    workspaceId: accounts.workspaceId,
    userId,
    role: "member",
    emailKey: email,
    name: user?.name ?? email,
    expiresAt: null,
    sees: [userId, accounts.membersId, ...teamIds],
  };
}

/** @throws Error if the user or team has been deleted from the sample workspace. */
export function requireId(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the sample workspace no longer has ${name}`);
  return id;
}
