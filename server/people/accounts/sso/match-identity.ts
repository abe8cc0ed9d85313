import { sql } from "kysely";
import { defaultProviderId } from "../../../../contract/default-provider.ts";
import { foldCase } from "../../../../shared/fold-case.ts";
import { recordAudit } from "../../../platform/audit/record.ts";
import { issuerKey, whyShared } from "../../../platform/config/shared-issuers.ts";
import { findProviderOf, type SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { Localized } from "../../../platform/language/i18n.ts";
import { changeMembership } from "../../access/grants.ts";
import { type MailDependencies, tell } from "../one-time-links/account-changes.ts";
import { deleteLinks } from "../one-time-links/one-time-links.ts";
import { createUser } from "../service.ts";
import { actorFor, type SignInUser } from "../sign-in/sign-in.ts";
import { findIdentities } from "../users/identities.ts";
import { mayConnect } from "../users/may-connect.ts";
import { proveEmail } from "../users/prove-email.ts";
import { claimKeyOfEmail, findDomainOwner } from "../workspaces/email-domains.ts";
import { type ProvenIdentity, SingleSignOnError } from "./single-sign-on.ts";

export interface MatchOptions {
  /** The provider that identified the user. */
  readonly provider: SignInProvider;
  /** All providers of the settings. */
  readonly providers: readonly SignInProvider[];
  /** For the email to a user whose account is linked; null: none. */
  readonly mail: MailDependencies | null;
  readonly from: From;
}

interface From {
  readonly ip: string;
  readonly userAgent: string;
}

/**
 * Finds the account of an identity: the account linked to it, or else the account with its verified email, which is then
 * linked to it. Someone who later takes over the email at the provider does not get the account.
 * @throws SingleSignOnError with a message for the user.
 */
export async function matchIdentity(
  tx: Tx,
  identity: ProvenIdentity,
  options: MatchOptions,
): Promise<SignInUser> {
  const { provider } = options;
  const bound = await findLocked(tx, findBound(tx, identity));
  if (bound !== undefined) return refuseDeactivated(bound);
  if (identity.email === null)
    throw new SingleSignOnError(
      (i18n) =>
        i18n.t(
          "The provider did not send your email address, which is required here. Ask an admin for help.",
        ),
      "the provider sends no email; add the claim email to the ID token or the userinfo of this client",
    );
  if (identity.isEmailVerified === null) throw unknownProof(provider, identity.email);

  const { email } = identity;
  if (!identity.isEmailVerified)
    throw new SingleSignOnError((i18n) =>
      i18n.t("The provider has not verified {email}. Verify it there, or ask an admin.", { email }),
    );
  refuseOtherDomain(provider, email);
  const found = await findByEmail(tx, identity.email).executeTakeFirst();
  const owner = await findDomainOwner(tx, claimKeyOfEmail(identity.email));
  // Someone in another workspace has registered an email of the domain without proof: the owner gets no access there.
  const isSquatted =
    found?.email_proven_at === null && owner !== undefined && owner.workspace_id !== found.workspace_id;
  const known = isSquatted ? undefined : await findLocked(tx, findByEmail(tx, identity.email));
  const user =
    known === undefined
      ? await createUserFor(tx, identity, identity.email, {
          createUsers: provider.createUsers,
          from: options.from,
          workspaceId: owner?.workspace_id,
        })
      : await refuseDeactivated(known);
  if (user === known) await refuseOtherProvider(tx, known, identity, options.providers);
  await proveEmail(tx, user, "single_sign_on", options.from);
  await bind(tx, identity, user, options.from);
  // To a user who has signed in otherwise it is a new way to sign in.
  if (user === known && known.last_signed_in_at !== null)
    await tell(tx, options.mail, user.id, "single_sign_on_bound", [provider.name]);
  return user;
}

/**
 * Links an identity to the account of a user who is signed in. The provider must have verified the account's own email: an
 * account with another email is no evidence for the same person, and would stay a way in when the user leaves the company.
 * An account whose email nobody has proven is not linked: someone else may have set it up, and signing in ends what they hold.
 * @throws SingleSignOnError with a message for the user.
 */
export async function connectIdentity(
  tx: Tx,
  identity: ProvenIdentity,
  { provider, providers, mail, userId, from }: MatchOptions & { readonly userId: string },
): Promise<void> {
  const { email } = identity;
  const { name } = provider;
  const user = await findLocked(
    tx,
    tx
      .selectFrom("users as u")
      .select([...columns])
      .where("u.id", "=", userId),
  );
  if (user === undefined || user.deactivated_at !== null)
    throw new SingleSignOnError((i18n) =>
      i18n.t("Your account is deactivated. Ask an admin to reactivate it."),
    );
  const isOwn = email !== null && foldCase(email.trim()) === user.email_key;
  if (isOwn && identity.isEmailVerified === null) throw unknownProof(provider, email);
  if (!isOwn || !identity.isEmailVerified)
    throw new SingleSignOnError((i18n) =>
      i18n.t("{name} has not verified {email}, the email of your account here. Nothing was connected.", {
        name,
        email: user.email_key,
      }),
    );
  refuseOtherDomain(provider, email);
  const bound = await findBound(tx, identity).executeTakeFirst();
  if (bound?.id === user.id) return;
  if (bound !== undefined)
    throw new SingleSignOnError((i18n) =>
      i18n.t("This account of {name} is linked to another user here. Ask an admin to unlink it.", { name }),
    );
  if (!(await mayConnect(tx, user, identity.issuer, providers)))
    throw new SingleSignOnError((i18n) =>
      i18n.t("Your workspace doesn't let you connect {name} with your account. Ask an admin.", { name }),
    );
  if (user.email_proven_at === null) await proveConnected(tx, user, provider);
  await bind(tx, identity, user, from);
  await tell(tx, mail, user.id, "single_sign_on_bound", [name]);
}

/**
 * An account that is linked already had its email proven then; a new email of it is proven by the provider now.
 * @throws SingleSignOnError for an account that isn't.
 */
async function proveConnected(tx: Tx, user: SignInUser, { name }: SignInProvider): Promise<void> {
  if ((await findIdentities(tx, user.id)).length === 0)
    throw new SingleSignOnError((i18n) =>
      i18n.t(
        "Sign out, then sign in with {name}: this proves that {email} is yours, and connects it. Nothing was connected.",
        { name, email: user.email_key },
      ),
    );
  await tx
    .updateTable("users")
    .set({ email_proven_at: sql<Date>`now()` })
    .where("id", "=", user.id)
    .execute();
}

/** The provider doesn't say whether the email is verified: only the operator can do something about it. */
function unknownProof({ id, name, issuer }: SignInProvider, email: string): SingleSignOnError {
  const shared = whyShared(issuer);
  const setting: Localized = (i18n) =>
    id === defaultProviderId ? i18n.t("Trust emails (PARLEY_OIDC_TRUST_EMAIL)") : i18n.t("Trust emails");
  const remedy: Localized = (i18n) =>
    shared === null
      ? i18n.t(
          "If users can't choose their email there, as in a tenant of Microsoft Entra ID, an admin of the server turns on {setting} in the settings of {name}.",
          { setting: setting(i18n), name },
        )
      : i18n.t(
          "An admin of the server can't turn on {setting} for {name}, because other organizations use it too.",
          { setting: setting(i18n), name },
        );
  const whatToDo =
    shared === null ? "turn on Trust emails for it, if users can't choose their email there" : shared;
  return new SingleSignOnError(
    (i18n) =>
      `${i18n.t("The provider does not say whether {email} is verified. You can't change that; ask your admin.", { email })} ${remedy(i18n)}`,
    `the provider sends no claim email_verified; ${whatToDo}`,
  );
}

/** @throws SingleSignOnError when the provider may not speak for the email's domain. */
function refuseOtherDomain({ allowedDomains, name }: SignInProvider, email: string): void {
  if (allowedDomains.length === 0) return;
  const domain = claimKeyOfEmail(email);
  if (allowedDomains.some((allowed) => claimKeyOfEmail(`any@${allowed}`) === domain)) return;
  throw new SingleSignOnError(
    (i18n) => i18n.t("{name} is not accepted for {email}. Ask an admin.", { name, email }),
    `the allowed domains of ${name} are ${allowedDomains.join(", ")}`,
  );
}

/**
 * An account that signs in through another provider, or another tenant of the same one, is not linked to a second one by its
 * email: each provider would otherwise give access to the accounts of all others. A provider that was removed doesn't count.
 * @throws SingleSignOnError
 */
async function refuseOtherProvider(
  tx: Tx,
  user: SignInUser,
  identity: ProvenIdentity,
  providers: readonly SignInProvider[],
): Promise<void> {
  const linked = await tx
    .selectFrom("identities")
    .select("issuer")
    .where("user_id", "=", user.id)
    .orderBy("created_at")
    .execute();
  for (const { issuer } of linked) {
    if (issuerKey(issuer) === issuerKey(identity.issuer)) continue;
    const other = findProviderOf(providers, issuer);
    if (other === undefined) continue;
    throw new SingleSignOnError((i18n) =>
      i18n.t(
        "The account with your email signs in with {name}. Sign in with it, or ask an admin to unlink it first.",
        { name: other.name },
      ),
    );
  }
}

interface Account extends SignInUser {
  readonly email_proven_at: Date | null;
  readonly deactivated_at: Date | null;
  readonly invited_at: Date | null;
  readonly last_signed_in_at: Date | null;
}

const columns = [
  "u.id",
  "u.workspace_id",
  "u.email_key",
  "u.email_proven_at",
  "u.deactivated_at",
  "u.invited_at",
  "u.last_signed_in_at",
] as const;

/** Locks the membership and then the account, in the order of every change of users. */
async function findLocked(
  tx: Tx,
  query: ReturnType<typeof findByEmail> | ReturnType<typeof findBound>,
): Promise<Account | undefined> {
  const found = await query.executeTakeFirst();
  if (found === undefined) return undefined;
  await changeMembership(tx, found.workspace_id);
  return query.forNoKeyUpdate().executeTakeFirst();
}

function findBound(tx: Tx, { issuer, subject }: ProvenIdentity) {
  return tx
    .selectFrom("identities as i")
    .innerJoin("users as u", "u.id", "i.user_id")
    .select([...columns])
    .where("i.issuer", "=", issuer)
    .where("i.subject", "=", subject);
}

function findByEmail(tx: Tx, email: string) {
  return tx
    .selectFrom("users as u")
    .select([...columns])
    .where("u.email_key", "=", sql<string>`parley_lower(${email.trim()})`);
}

async function refuseDeactivated(account: Account): Promise<SignInUser> {
  if (account.deactivated_at !== null)
    throw new SingleSignOnError((i18n) =>
      i18n.t("Your account is deactivated. Ask an admin to reactivate it."),
    );
  return account;
}

/** @throws SingleSignOnError when the account is linked to another identity of the provider. */
async function bind(tx: Tx, identity: ProvenIdentity, user: SignInUser, from: From): Promise<void> {
  const inserted = await tx
    .insertInto("identities")
    .values({ issuer: identity.issuer, subject: identity.subject, user_id: user.id })
    .onConflict((conflict) => conflict.doNothing())
    .returning("user_id")
    .executeTakeFirst();
  if (inserted === undefined)
    throw new SingleSignOnError((i18n) =>
      i18n.t(
        "The account with your email is linked to a different user at the provider. If that was you, ask an admin to unlink it.",
      ),
    );
  // Signing in with single sign-on accepts an open invitation.
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

/**
 * Creates an account in the workspace that owns the email's domain.
 * @throws SingleSignOnError when no workspace owns it, or the settings do not allow new accounts.
 */
async function createUserFor(
  tx: Tx,
  identity: ProvenIdentity,
  email: string,
  options: { readonly createUsers: boolean; readonly from: From; readonly workspaceId: string | undefined },
): Promise<SignInUser> {
  const { workspaceId } = options;
  if (!options.createUsers || workspaceId === undefined)
    throw new SingleSignOnError((i18n) =>
      i18n.t("There is no account for {email}. Ask an admin to invite you.", { email }),
    );
  const { id } = await createUser(tx, {
    workspaceId,
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
