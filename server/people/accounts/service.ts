import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { because } from "../../../contract/causes/causes.ts";
import type { Compatibility, DatetimeFilters } from "../../../contract/common.ts";
import type { Role } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { changeMembership, syncGrants } from "../access/grants.ts";
import { endOf, findRules } from "../access/security-rules.ts";
import { defaultMeetingTypes } from "../directory/default-meeting-types.ts";
import { hashPassword } from "./sign-in/passwords.ts";
import { type AccessTokenType, generateToken, hashToken } from "./tokens/access-tokens.ts";
import { releaseUnprovenEmail } from "./users/prove-email.ts";
import { claimKeyOfEmail, findDomainOwner } from "./workspaces/email-domains.ts";

/** An account operation that failed; the message is for the user who requested it. */
export class AccountError extends Error {}

/**
 * An email that cannot get an account. The message is for the operator; `publicMessage` reveals nothing about other workspaces.
 */
export class EmailUnavailableError extends AccountError {
  readonly publicMessage: string;

  constructor(message: string, publicMessage: string) {
    super(message);
    this.publicMessage = publicMessage;
  }
}

/** Creates a workspace with its twelve meeting types. The first one becomes the operator's. */
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
  // The first one belongs to those who installed the server; `parley workspace operator` names another.
  await sql`
    update installation set operator_workspace_id = ${id}
    where operator_workspace_id is null and not exists (select 1 from workspaces where id <> ${id})`.execute(
    tx,
  );
  return { id };
}

/** Normalizes an email domain. @throws AccountError when it is invalid. */
export function readDomain(text: string): string {
  const domain = text.trim().replace(/^@/, "").toLowerCase();
  if (!/^[a-z0-9\u0080-\uffff-]+(\.[a-z0-9\u0080-\uffff-]+)*$/.test(domain))
    throw new AccountError(`"${text}" is not an email domain such as example.com`);
  return domain;
}

interface NewUser {
  readonly workspaceId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly password?: string;
  /** Instead of a password, for users that share one: hashing takes a sixth of a second of processor time. */
  readonly passwordHash?: string;
}

/**
 * Creates a user, who sees the recordings they attended before, matched by email. An email in a claimed domain can get an account
 * in the workspace that owns the domain only.
 * @throws AccountError for wrong input; EmailUnavailableError when the email is in use or in another workspace's domain.
 */
export async function createUser(tx: Tx, input: NewUser): Promise<{ id: string }> {
  const email = input.email.trim();
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw new AccountError(`"${input.email}" is not an email address`);
  if (input.name.trim() === "") throw new AccountError("a user needs a name");
  const id = randomUUIDv7();
  // Slow, so it runs before any lock is taken.
  const passwordHash =
    input.password === undefined ? (input.passwordHash ?? null) : await hashPassword(input.password);
  const owner = await findDomainOwner(tx, claimKeyOfEmail(email));
  if (owner !== undefined && owner.workspace_id !== input.workspaceId)
    throw new EmailUnavailableError(
      `the domain of ${email} is claimed by the workspace ${owner.workspace_id} (${owner.workspace_name}); create the user there, or release the domain with: parley domain release`,
      unavailableElsewhere(email),
    );
  await changeMembership(tx, input.workspaceId);
  if (owner !== undefined) await releaseUnprovenEmail(tx, input.workspaceId, email);
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
  if (inserted === undefined) throw await describeTaken(tx, input.workspaceId, email);
  const attended = await tx
    .selectFrom("participants")
    .select("recording_id")
    .distinct()
    .where("workspace_id", "=", input.workspaceId)
    .where("email_key", "=", sql<string>`parley_lower(${email})`)
    .execute();
  await syncGrants(
    tx,
    attended.map((row) => row.recording_id),
  );
  return { id };
}

async function describeTaken(tx: Tx, workspaceId: string, email: string): Promise<EmailUnavailableError> {
  const own = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email_key", "=", sql<string>`parley_lower(${email})`)
    .executeTakeFirst();
  const message = `a user with the email ${email} already exists`;
  return new EmailUnavailableError(message, own === undefined ? unavailableElsewhere(email) : message);
}

/** One text for every reason outside the workspace, so that it does not reveal which emails have accounts. */
export function unavailableElsewhere(email: string): string {
  return because("email_unavailable", { email }).detail;
}

/** Creates a team with members given by email. */
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
  if (inserted === undefined) throw new AccountError(`a team named ${input.name.trim()} already exists`);
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
 * Creates an access token for a user, or, issued by an admin, for the whole workspace. It expires no later than the rules of
 * the workspace allow.
 * @returns the token itself, which is not stored and can't be shown again.
 */
export async function createAccessToken(
  tx: Tx,
  input: {
    email: string;
    type: AccessTokenType;
    name: string;
    expiresAt: Date | null;
    /** The token that creates this one, which ends with it. */
    createdByTokenId?: string | null;
    /** Left out: as the server is set. */
    datetimeFilters?: DatetimeFilters | undefined;
    /** Left out: as the server is set. */
    compatibility?: Compatibility | undefined;
  },
): Promise<{ id: string; token: string }> {
  const user = await findUserByEmail(tx, input.email);
  if (user === undefined) throw new AccountError(`there is no user with the email ${input.email}`);
  if (input.type === "workspace_access_token" && user.role !== "admin")
    throw new AccountError(`${user.email} is not an admin; only admins issue workspace tokens`);
  if (input.createdByTokenId != null && !(await lockToken(tx, input.createdByTokenId)))
    throw new AccountError("the token in use was just revoked");
  const rules = await findRules(tx, user.workspace_id);
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
      expires_at: endOf(rules, { since: new Date(), expiresAt: input.expiresAt, kind: "token" }),
      created_by_token_id: input.createdByTokenId ?? null,
      datetime_filters: input.datetimeFilters ?? null,
      compatibility: input.compatibility ?? null,
    })
    .execute();
  return { id, token };
}

/** Locks a token against revocation. @returns false when it has been revoked. */
async function lockToken(tx: Tx, id: string): Promise<boolean> {
  const token = await tx
    .selectFrom("access_tokens")
    .select("id")
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .forShare()
    .executeTakeFirst();
  return token !== undefined;
}

/** An active user by email, ignoring case; locked against deactivation and role changes until the transaction ends. */
export function findUserByEmail(tx: Tx, email: string) {
  return tx
    .selectFrom("users")
    .select(["id", "workspace_id", "email", "role"])
    .where("email_key", "=", sql<string>`parley_lower(${email.trim()})`)
    .where("deactivated_at", "is", null)
    .forShare()
    .executeTakeFirst();
}

/** A user by email, deactivated or not. @throws AccountError when there is none. */
export async function findAnyUser(tx: Tx, email: string): Promise<{ id: string; workspace_id: string }> {
  const user = await tx
    .selectFrom("users")
    .select(["id", "workspace_id"])
    .where("email_key", "=", sql<string>`parley_lower(${email.trim()})`)
    .executeTakeFirst();
  if (user === undefined) throw new AccountError(`there is no user with the email ${email}`);
  return user;
}

/**
 * The given workspace, or the only one when a command names none.
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
        ? "there is no workspace yet; create one with: parley workspace create --name NAME"
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
 * Creates the first workspace of an empty server, with an admin and a token.
 * @param keep stores the sign-in before it takes effect, so that a server killed in between leaves no account that nobody
 * can sign in to. If it fails, the account is not created.
 * @returns null when a workspace exists already. A lock lets one of several starting processes create it.
 */
export async function createFirstAccount(
  db: Database,
  password: string,
  keep: (account: FirstAccount) => Promise<void> = async () => {},
): Promise<FirstAccount | null> {
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
    const account = { workspaceId: workspace.id, email, password, token };
    await keep(account);
    return account;
  });
}
