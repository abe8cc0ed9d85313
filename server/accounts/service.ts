import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { changeMembership, syncGrants } from "../access/grants.ts";
import type { Role } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import { defaultMeetingTypes } from "../directory/default-meeting-types.ts";
import { type AccessTokenType, generateToken, hashToken } from "./access-tokens.ts";
import { hashPassword } from "./passwords.ts";

/** A request about accounts that can't be fulfilled; the message is for the person who made it. */
export class AccountError extends Error {}

/** Makes a workspace with its twelve meeting types. */
export async function createWorkspace(
  tx: Tx,
  input: { name: string; emailDomains: readonly string[]; maxDurationSec?: number | undefined },
): Promise<{ id: string }> {
  if (input.name.trim() === "") throw new AccountError("a workspace needs a name");
  const id = randomUUIDv7();
  await tx
    .insertInto("workspaces")
    .values({
      id,
      name: input.name.trim(),
      email_domains: [...new Set(input.emailDomains.map(readDomain))],
      members_id: randomUUIDv7(),
      max_duration_sec: input.maxDurationSec ?? null,
    })
    .execute();
  await tx
    .insertInto("meeting_types")
    .values(
      defaultMeetingTypes.map((type, position) => ({
        id: randomUUIDv7(),
        workspace_id: id,
        name: type.name,
        scope: type.scope,
        is_default: type.isDefault ?? false,
        position,
      })),
    )
    .execute();
  return { id };
}

/** An email domain in its one form. @throws AccountError when it is none. */
export function readDomain(text: string): string {
  const domain = text.trim().replace(/^@/, "").toLowerCase();
  if (!/^[a-z0-9\u0080-\uffff-]+(\.[a-z0-9\u0080-\uffff-]+)*$/.test(domain))
    throw new AccountError(`"${text}" is not an email domain such as example.com`);
  return domain;
}

/** Makes a user. What they took part in before, by their email, they see from now on. */
export async function createUser(
  tx: Tx,
  input: { workspaceId: string; email: string; name: string; role: Role; password?: string },
): Promise<{ id: string }> {
  const email = input.email.trim();
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new AccountError(`"${input.email}" is not an email address`);
  if (input.name.trim() === "") throw new AccountError("a user needs a name");
  const id = randomUUIDv7();
  // Takes a while, so before anybody has to wait for us.
  const passwordHash = input.password === undefined ? null : await hashPassword(input.password);
  await changeMembership(tx, input.workspaceId);
  const inserted = await tx
    .insertInto("users")
    .values({
      id,
      workspace_id: input.workspaceId,
      name: input.name.trim(),
      email,
      role: input.role,
      password_hash: passwordHash,
    })
    .onConflict((conflict) => conflict.column("email_key").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) throw new AccountError(`there is a user with the email ${email} already`);
  const attended = await tx
    .selectFrom("participants")
    .select("recording_id")
    .distinct()
    .where("workspace_id", "=", input.workspaceId)
    .where("email_key", "=", sql<string>`lower(${email})`)
    .execute();
  await syncGrants(
    tx,
    attended.map((row) => row.recording_id),
  );
  return { id };
}

/** Makes a team with its members, named by their emails. */
export async function createTeam(
  tx: Tx,
  input: { workspaceId: string; name: string; memberEmails: readonly string[] },
): Promise<{ id: string }> {
  if (input.name.trim() === "") throw new AccountError("a team needs a name");
  const id = randomUUIDv7();
  const inserted = await tx
    .insertInto("teams")
    .values({ id, workspace_id: input.workspaceId, name: input.name.trim() })
    .onConflict((conflict) => conflict.columns(["workspace_id", "name_key"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) throw new AccountError(`there is a team named ${input.name.trim()} already`);
  for (const email of new Set(input.memberEmails)) {
    const user = await findUserByEmail(tx, email);
    if (user === undefined || user.workspace_id !== input.workspaceId)
      throw new AccountError(`there is no user with the email ${email} in this workspace`);
    await tx
      .insertInto("team_members")
      .values({ team_id: id, user_id: user.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  return { id };
}

/**
 * Issues an access token for a user, or in a user's name for the whole workspace (admins only).
 * @returns the token itself, which is not stored and can't be shown again.
 */
export async function createAccessToken(
  tx: Tx,
  input: { email: string; type: AccessTokenType; name: string; expiresAt: Date | null },
): Promise<{ id: string; token: string }> {
  const user = await findUserByEmail(tx, input.email);
  if (user === undefined) throw new AccountError(`there is no user with the email ${input.email}`);
  if (input.type === "workspace_access_token" && user.role !== "admin")
    throw new AccountError(`${user.email} is not an admin; only admins issue workspace tokens`);
  const token = generateToken(input.type);
  const id = randomUUIDv7();
  await tx
    .insertInto("access_tokens")
    .values({
      id,
      workspace_id: user.workspace_id,
      user_id: user.id,
      type: input.type,
      name: input.name,
      hash: hashToken(token),
      expires_at: input.expiresAt,
    })
    .execute();
  return { id, token };
}

/** An active user by email, whatever its case; not deactivated or demoted before the transaction ends. */
export function findUserByEmail(tx: Tx, email: string) {
  return tx
    .selectFrom("users")
    .select(["id", "workspace_id", "email", "role"])
    .where("email_key", "=", sql<string>`lower(${email.trim()})`)
    .where("deactivated_at", "is", null)
    .forShare()
    .executeTakeFirst();
}

/** A user by email, deactivated or not. @throws AccountError when there is none. */
export async function findAnyUser(tx: Tx, email: string): Promise<{ id: string; workspace_id: string }> {
  const user = await tx
    .selectFrom("users")
    .select(["id", "workspace_id"])
    .where("email_key", "=", sql<string>`lower(${email.trim()})`)
    .executeTakeFirst();
  if (user === undefined) throw new AccountError(`there is no user with the email ${email}`);
  return user;
}

/**
 * The workspace a command means when it names none: the only one there is.
 * @throws AccountError when there is none or more than one.
 */
export async function chooseWorkspace(tx: Tx, workspaceId: string | undefined): Promise<string> {
  const found = await tx
    .selectFrom("workspaces")
    .select(["id", "name"])
    .$if(workspaceId !== undefined, (query) =>
      query.where(sql`id::text`, "=", (workspaceId ?? "").toLowerCase()),
    )
    .orderBy("created_at")
    .limit(20)
    .execute();
  const [first, ...others] = found;
  if (first === undefined)
    throw new AccountError(
      workspaceId === undefined
        ? "there is no workspace yet; make one with: parley workspace create --name NAME"
        : `there is no workspace ${workspaceId}`,
    );
  if (others.length > 0)
    throw new AccountError(
      `there are several workspaces; name one with --workspace: ${found.map((row) => `${row.id} (${row.name})`).join(", ")}`,
    );
  return first.id;
}

/** The account a fresh server starts with. */
export interface FirstAccount {
  readonly workspaceId: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

/**
 * Gives a server without any workspace its first one, with an admin and a token.
 * @returns null when there is a workspace already. Processes that start at once agree on who makes it by a lock.
 */
export async function createFirstAccount(db: Database, password: string): Promise<FirstAccount | null> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`lock table workspaces in share row exclusive mode`.execute(tx);
    if (await tx.selectFrom("workspaces").select("id").limit(1).executeTakeFirst()) return null;
    const email = "admin@parley.local";
    const workspace = await createWorkspace(tx, { name: "My workspace", emailDomains: ["parley.local"] });
    await createUser(tx, { workspaceId: workspace.id, email, name: "Admin", role: "admin", password });
    const { token } = await createAccessToken(tx, {
      email,
      type: "personal_access_token",
      name: "first start",
      expiresAt: null,
    });
    return { workspaceId: workspace.id, email, password, token };
  });
}
