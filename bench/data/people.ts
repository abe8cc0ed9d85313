import { randomUUIDv7 } from "node:crypto";
import type pg from "pg";
import { createAccessToken, createUser, createWorkspace } from "../../server/people/accounts/service.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { firstNames, lastNames } from "./words.ts";

/** A workspace and its admin's workspace token. */
export interface MadeWorkspace {
  readonly id: string;
  readonly adminId: string;
  readonly adminEmail: string;
  readonly workspaceToken: string;
}

/** Makes a workspace with an admin, and a token that sees all of it. */
export function makeWorkspace(db: Database, name: string, domain: string): Promise<MadeWorkspace> {
  return db.kysely.transaction().execute(async (tx) => {
    const { id } = await createWorkspace(tx, { name, emailDomains: [domain] });
    const adminEmail = `admin@${domain}`;
    const admin = await createUser(tx, { workspaceId: id, email: adminEmail, name: "Admin", role: "admin" });
    const { token } = await createAccessToken(tx, {
      email: adminEmail,
      type: "workspace_access_token",
      name: "bench",
      expiresAt: null,
    });
    return { id, adminId: admin.id, adminEmail, workspaceToken: token };
  });
}

/** Issues a personal token. */
export async function makePersonalToken(db: Database, email: string): Promise<string> {
  const input = { email, type: "personal_access_token", name: "bench", expiresAt: null } as const;
  return (await db.kysely.transaction().execute((tx) => createAccessToken(tx, input))).token;
}

/** A workspace with a user, and that user's personal token. */
export interface MadeUser {
  readonly workspaceId: string;
  readonly userId: string;
  readonly token: string;
}

export async function makeUser(db: Database, name: string, domain: string): Promise<MadeUser> {
  const { id, adminId, adminEmail } = await makeWorkspace(db, name, domain);
  return { workspaceId: id, userId: adminId, token: await makePersonalToken(db, adminEmail) };
}

/** Fills the workspace with users (user0, user1, …) and teams; everybody is in two teams. */
export async function insertPeople(
  client: pg.Client,
  workspaceId: string,
  domain: string,
  counts: { users: number; teams: number },
): Promise<void> {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  const users = numbers(counts.users).map((n) => ({
    n,
    id: randomUUIDv7(),
    name: `${firstNames[n % firstNames.length]} ${lastNames[Math.floor(n / firstNames.length) % lastNames.length]}`,
    email: `user${n}@${domain}`,
  }));
  const teams = numbers(counts.teams).map((n) => ({ n, id: randomUUIDv7() }));
  await client.query("truncate people, teams_by_number, types_by_number");
  await client.query("insert into people select * from jsonb_populate_recordset(null::people, $1)", [
    JSON.stringify(users),
  ]);
  await client.query(
    "insert into teams_by_number select * from jsonb_populate_recordset(null::teams_by_number, $1)",
    [JSON.stringify(teams)],
  );
  await client.query(
    `insert into types_by_number
     select row_number() over (partition by scope order by position) - 1, scope, id
     from meeting_types where workspace_id = $1`,
    [workspaceId],
  );
  await client.query(
    "insert into users (id, workspace_id, name, email, role) select id, $1, name, email, 'member' from people",
    [workspaceId],
  );
  await client.query(
    "insert into teams (id, workspace_id, name) select id, $1, 'Team ' || n from teams_by_number",
    [workspaceId],
  );
  await client.query(
    `insert into team_members (team_id, user_id)
     select t.id, p.id from people p
     join teams_by_number t on t.n in (p.n % $1, (p.n * 7 + 3) % $1)
     on conflict do nothing`,
    [counts.teams],
  );
}
