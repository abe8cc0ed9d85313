import { sql } from "kysely";
import { foldCase } from "../../../../shared/fold-case.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { changeMembership, syncGrants } from "../../access/grants.ts";
import { deleteLinks } from "../../accounts/one-time-links/one-time-links.ts";
import { createUser, EmailUnavailableError, unavailableElsewhere } from "../../accounts/service.ts";
import { releaseUnprovenEmail } from "../../accounts/users/prove-email.ts";
import { deactivateUser, reactivateUser } from "../../accounts/users/users.ts";
import { claimKeyOfEmail, findDomainOwner } from "../../accounts/workspaces/email-domains.ts";
import { checkVersion, notFound } from "../resource.ts";
import { ScimError } from "../scim-error.ts";
import { joinNames, presentUser } from "./present-user.ts";
import type { UserChange } from "./user-change.ts";
import { findScimUser, type ScimUserRow } from "./user-rows.ts";

/** What a change of a resource depends on. */
export interface ChangeContext {
  readonly actor: AuditActor;
  readonly baseUrl: string;
  /** The version that the client means; undefined: whichever there is. */
  readonly ifMatch: string | undefined;
}

/**
 * Creates a user, or brings back the account that SCIM had deleted. They sign in by single sign-on, or an admin sends them
 * an invitation: a provider doesn't prove who owns an email.
 * @throws ScimError `uniqueness`; AccountError.
 */
export async function createScimUser(
  tx: Tx,
  context: ChangeContext,
  given: UserChange & { readonly userName: string },
): Promise<ScimUserRow> {
  const { actor } = context;
  const { workspaceId } = actor;
  await changeMembership(tx, workspaceId);
  const deleted = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email_key", "=", sql<string>`parley_lower(${given.userName})`)
    .where("deactivated_at", "is not", null)
    .where("scim_deleted_at", "is not", null)
    .executeTakeFirst();
  const id = deleted?.id ?? (await addUser(tx, actor, given));
  if (deleted !== undefined) await reactivateUser(tx, actor, id);
  return applyChange(tx, context, id, deleted === undefined ? withoutName(given) : given);
}

async function addUser(
  tx: Tx,
  actor: AuditActor,
  given: UserChange & { readonly userName: string },
): Promise<string> {
  const email = given.userName;
  const name =
    given.displayName ?? given.formatted ?? joinNames(given.givenName ?? null, given.familyName ?? null);
  const { id } = await createUser(tx, {
    workspaceId: actor.workspaceId,
    email,
    name: (name ?? email.split("@")[0] ?? email).slice(0, 200),
    role: "member",
  });
  await tx.updateTable("users").set({ invited_at: sql`now()` }).where("id", "=", id).execute();
  await recordAudit(tx, actor, {
    action: "user_created",
    subject: { type: "user", id },
    details: { by: "scim", email, role: "member" },
  });
  return id;
}

/** The change without the name, which the new user has already. */
function withoutName({ displayName: _, formatted: __, ...rest }: UserChange): UserChange {
  return rest;
}

/** Changes a user. @throws ScimError 404, 412, `uniqueness`, `mutability`; ProblemError `wrong_state` for the last admin. */
export async function changeScimUser(
  tx: Tx,
  context: ChangeContext,
  id: string,
  change: UserChange,
): Promise<ScimUserRow> {
  await lockShown(tx, context, id);
  return applyChange(tx, context, id, change);
}

/** Deactivates a user and hides them from SCIM. @throws ScimError 404, 412; ProblemError `wrong_state`. */
export async function deleteScimUser(tx: Tx, context: ChangeContext, id: string): Promise<void> {
  await lockShown(tx, context, id);
  await deactivateUser(tx, context.actor, id);
  await tx.updateTable("users").set({ scim_deleted_at: sql`now()` }).where("id", "=", id).execute();
}

/** Locks the membership, so that no change comes between the check of the version and the change. */
async function lockShown(tx: Tx, { actor, baseUrl, ifMatch }: ChangeContext, id: string): Promise<void> {
  await changeMembership(tx, actor.workspaceId);
  checkVersion(ifMatch, presentUser(await readShown(tx, actor, id), baseUrl));
}

async function readShown(tx: Tx, actor: AuditActor, id: string): Promise<ScimUserRow> {
  const row = await findScimUser(tx, actor.workspaceId, id);
  if (row === undefined) throw notFound("user", id);
  return row;
}

async function applyChange(
  tx: Tx,
  { actor }: ChangeContext,
  id: string,
  change: UserChange,
): Promise<ScimUserRow> {
  const before = await readShown(tx, actor, id);
  // An email that is refused must not keep a user active whom the provider deactivates.
  const isLeaving = change.active === false && before.is_active;
  if (isLeaving) await deactivateUser(tx, actor, before.id);
  else if (change.userName !== undefined && change.userName !== before.email)
    await changeEmail(tx, actor, before, change.userName);
  await changeNames(tx, actor, before, change);
  if (change.active === true && !before.is_active) await reactivateUser(tx, actor, before.id);
  return readShown(tx, actor, id);
}

async function changeNames(
  tx: Tx,
  actor: AuditActor,
  before: ScimUserRow,
  change: UserChange,
): Promise<void> {
  const {
    givenName = before.given_name,
    familyName = before.family_name,
    externalId = before.external_id,
  } = change;
  const name = nameAfter(before, change, joinNames(givenName, familyName));
  const details = {
    ...(name === before.name ? {} : { name }),
    ...(givenName === before.given_name ? {} : { given_name: givenName }),
    ...(familyName === before.family_name ? {} : { family_name: familyName }),
    ...(externalId === before.external_id ? {} : { external_id: externalId }),
  };
  if (Object.keys(details).length === 0) return;
  await tx.updateTable("users").set(details).where("id", "=", before.id).execute();
  await recordAudit(tx, actor, {
    action: "user_changed",
    subject: { type: "user", id: before.id },
    details,
  });
}

/** The name that Parley shows: what the provider calls it, else the parts, where the name was made of them before. */
function nameAfter(before: ScimUserRow, change: UserChange, joined: string | null): string {
  if (change.displayName != null) return change.displayName;
  const wasJoined = before.name === joinNames(before.given_name, before.family_name);
  if (!wasJoined && change.displayName === undefined) return before.name;
  return (change.formatted ?? joined ?? before.name).slice(0, 200);
}

/** Changes the email of an account: the email of another person, or only its capitals. */
async function changeEmail(tx: Tx, actor: AuditActor, before: ScimUserRow, email: string): Promise<void> {
  if (foldCase(email) === foldCase(before.email))
    await tx.updateTable("users").set({ email }).where("id", "=", before.id).execute();
  else await replaceEmail(tx, actor, before, email);
  await recordAudit(tx, actor, {
    action: "user_changed",
    subject: { type: "user", id: before.id },
    details: { email, former_email: before.email },
  });
}

/**
 * Replaces the email of an account, which is then unproven. Who attended a meeting is found by email, so the user sees
 * other recordings afterwards.
 */
async function replaceEmail(tx: Tx, actor: AuditActor, before: ScimUserRow, email: string): Promise<void> {
  const { workspaceId } = actor;
  if (!/^[^\s@]+@[^\s@]+$/.test(email))
    throw new ScimError(
      400,
      "userName must be an email; map an attribute with the email to it",
      "invalidValue",
    );
  if (before.role === "admin")
    throw new ScimError(
      400,
      "SCIM can't change the email of an admin; make them a member in Parley first",
      "mutability",
    );
  const owner = await findDomainOwner(tx, claimKeyOfEmail(email));
  if (owner !== undefined && owner.workspace_id !== workspaceId)
    throw new EmailUnavailableError(unavailableElsewhere(email), unavailableElsewhere(email));
  if (owner !== undefined) await releaseUnprovenEmail(tx, workspaceId, email);
  const taken = await tx
    .selectFrom("users")
    .select("workspace_id")
    .where("email_key", "=", sql<string>`parley_lower(${email})`)
    .where("id", "!=", before.id)
    .executeTakeFirst();
  if (taken !== undefined) {
    const message = `a user with the email ${email} already exists`;
    throw new EmailUnavailableError(
      message,
      taken.workspace_id === workspaceId ? message : unavailableElsewhere(email),
    );
  }
  await tx.updateTable("users").set({ email, email_proven_at: null }).where("id", "=", before.id).execute();
  const attended = await tx
    .selectFrom("participants")
    .select("recording_id")
    .distinct()
    .where("workspace_id", "=", workspaceId)
    .where(sql<boolean>`email_key in (parley_lower(${email}), parley_lower(${before.email}))`)
    .execute();
  await syncGrants(
    tx,
    attended.map((row) => row.recording_id),
  );
  // They were sent to the former email.
  await deleteLinks(tx, before.id);
}
