import { sql } from "kysely";
import { recordAudit } from "../audit/record.ts";
import type { Tx } from "../db/database.ts";
import { deleteLinks } from "./one-time-links.ts";
import { createUser } from "./service.ts";
import { actorFor, type SigningIn } from "./sign-in.ts";
import { type ProvenIdentity, SingleSignOnError } from "./single-sign-on.ts";

interface From {
  readonly ip: string;
  readonly userAgent: string;
}

/**
 * Finds whose account an identity is: the one it is bound to, or else the one with its verified email, which is bound to it
 * from now on. So whoever takes over an email at the provider later does not take over the account.
 * @throws SingleSignOnError in words for the person.
 */
export async function matchIdentity(
  tx: Tx,
  identity: ProvenIdentity,
  options: { readonly createUsers: boolean; readonly from: From },
): Promise<SigningIn> {
  const bound = await findBound(tx, identity);
  if (bound !== undefined) return letIn(bound);
  if (identity.email === null)
    throw new SingleSignOnError("The provider did not tell your email address, which accounts here go by.");
  if (!identity.isEmailVerified)
    throw new SingleSignOnError(
      `The provider does not say that ${identity.email} is verified. Have it verified there, or ask an admin.`,
    );
  const known = await findByEmail(tx, identity.email);
  const user =
    known === undefined ? await makeUser(tx, identity, identity.email, options) : await letIn(known);
  await bind(tx, identity, user, options.from);
  return user;
}

interface Account extends SigningIn {
  readonly deactivated_at: Date | null;
  readonly invited_at: Date | null;
}

const columns = ["u.id", "u.workspace_id", "u.email_key", "u.deactivated_at", "u.invited_at"] as const;

function findBound(tx: Tx, { issuer, subject }: ProvenIdentity): Promise<Account | undefined> {
  return tx
    .selectFrom("identities as i")
    .innerJoin("users as u", "u.id", "i.user_id")
    .select([...columns])
    .where("i.issuer", "=", issuer)
    .where("i.subject", "=", subject)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

function findByEmail(tx: Tx, email: string): Promise<Account | undefined> {
  return tx
    .selectFrom("users as u")
    .select([...columns])
    .where("u.email_key", "=", sql<string>`lower(${email.trim()})`)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

async function letIn(account: Account): Promise<SigningIn> {
  if (account.deactivated_at !== null)
    throw new SingleSignOnError("Your account here is deactivated. Ask an admin.");
  return account;
}

/** @throws SingleSignOnError when the account is somebody else's at the provider. */
async function bind(tx: Tx, identity: ProvenIdentity, user: SigningIn, from: From): Promise<void> {
  const inserted = await tx
    .insertInto("identities")
    .values({ issuer: identity.issuer, subject: identity.subject, user_id: user.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning("user_id")
    .executeTakeFirst();
  if (inserted === undefined)
    throw new SingleSignOnError(
      "The account with your email address belongs to somebody else at the provider. If that was you before, ask an admin to unbind it.",
    );
  // Who comes in by single sign-on has accepted an invitation.
  await tx.updateTable("users").set({ invited_at: null }).where("id", "=", user.id).execute();
  await deleteLinks(tx, user.id, "invitation");
  await recordAudit(
    tx,
    { ...actorFor(user), ...from, credential: null, credentialId: null },
    {
      action: "single_sign_on_bound",
      subject: { type: "user", id: user.id },
      details: { issuer: identity.issuer, subject: identity.subject },
    },
  );
}

/** Makes an account in the one workspace whose email domains hold this email. */
async function makeUser(
  tx: Tx,
  identity: ProvenIdentity,
  email: string,
  options: { readonly createUsers: boolean; readonly from: From },
): Promise<SigningIn> {
  const workspaces = options.createUsers ? await findByDomain(tx, email) : [];
  const [workspace] = workspaces;
  if (workspace === undefined || workspaces.length > 1)
    throw new SingleSignOnError(`There is no account here for ${email}. Ask an admin to invite you.`);
  const { id } = await createUser(tx, {
    workspaceId: workspace.id,
    email,
    name: (identity.name ?? email.split("@")[0] ?? email).slice(0, 200),
    role: "member",
  });
  const user = await tx
    .selectFrom("users")
    .select(["id", "workspace_id", "email_key"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  await recordAudit(
    tx,
    { ...actorFor(user), ...options.from, credential: null, credentialId: null },
    { action: "user_created", subject: { type: "user", id }, details: { by: "single_sign_on", email } },
  );
  return user;
}

function findByDomain(tx: Tx, email: string): Promise<{ id: string }[]> {
  return tx
    .selectFrom("workspaces")
    .select("id")
    .where(sql<boolean>`split_part(lower(${email}), '@', -1) = any(email_domains)`)
    .limit(2)
    .execute();
}
