import { sql } from "kysely";
import { sentences } from "../../../../contract/sentences.ts";
import { recordAudit, serverItself } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { changeMembership, syncGrants } from "../../access/grants.ts";
import { findRules, isBreakGlass } from "../../access/security-rules.ts";
import { deletePersonalHooks } from "../../events/hooks.ts";
import { actorFor, type SignInUser } from "../sign-in/sign-in.ts";
import { deleteSignInHistory } from "../sign-in/throttle.ts";
import { type EndedAccess, endAccess } from "./end-access.ts";
import { lockAccount } from "./queries.ts";

/**
 * Records that the user who signs in owns the account's email. The first proof ends everything set up before: password, sessions, tokens, apps, links and hooks may belong to someone who registered the email first
 * (account pre-hijacking). The break-glass admin keeps password and passkeys: without them nobody could sign in while the
 * provider can't be reached. The caller has locked the account.
 */
export async function proveEmail(
  tx: Tx,
  account: SignInUser,
  by: "mail" | "single_sign_on",
  from: { readonly ip: string; readonly userAgent: string },
): Promise<void> {
  const keepsWays = isBreakGlass(await findRules(tx, account.workspace_id), account.id);
  const unproven = await tx
    .updateTable("users")
    .set({ email_proven_at: sql<Date>`now()`, ...(keepsWays ? {} : { password_hash: null }) })
    .where("id", "=", account.id)
    .where("email_proven_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (unproven === undefined) return;
  const ended = await endEverything(tx, account, { keepPasskeys: keepsWays });
  await recordAudit(
    tx,
    { ...actorFor(account), ...from, credential: null, credentialId: null },
    {
      action: "email_proven",
      subject: { type: "user", id: account.id },
      details: { by, ended_sessions: ended.sessions, revoked_tokens: ended.tokens },
    },
  );
}

/**
 * Frees an email that an account of another workspace holds without proof, because the workspace that owns the domain
 * creates the account now. The other account is deactivated and keeps its recordings under a placeholder email. Proven
 * accounts stay as they are.
 */
export async function releaseUnprovenEmail(tx: Tx, ownerId: string, email: string): Promise<void> {
  const found = await tx
    .selectFrom("users")
    .select(["id", "workspace_id"])
    .where("email_key", "=", sql<string>`parley_lower(${email})`)
    .where("workspace_id", "!=", ownerId)
    .where("email_proven_at", "is", null)
    .executeTakeFirst();
  if (found === undefined) return;
  await changeMembership(tx, found.workspace_id);
  const account = await lockAccount(tx, found.workspace_id, found.id);
  if (account === undefined) return;
  const released = await tx
    .updateTable("users")
    .set({
      email: `${account.id}@released.invalid`,
      password_hash: null,
      invited_at: null,
      deactivated_at: sql<Date>`coalesce(deactivated_at, now())`,
    })
    .where("id", "=", account.id)
    .where("email_key", "=", account.email_key)
    .where("email_proven_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  if (released === undefined) return;
  const ended = await endEverything(tx, account, { keepPasskeys: false });
  // Signing in at the provider would otherwise find this account instead of the one that the owner of the domain creates.
  await tx.deleteFrom("identities").where("user_id", "=", account.id).execute();
  const attended = await tx
    .selectFrom("participants")
    .select("recording_id")
    .distinct()
    .where("workspace_id", "=", account.workspace_id)
    .where("email_key", "=", account.email_key)
    .execute();
  await syncGrants(
    tx,
    attended.map((row) => row.recording_id),
  );
  await recordAudit(tx, serverItself(account.workspace_id), {
    action: "user_deactivated",
    subject: { type: "user", id: account.id },
    details: { ...ended, reason: "email_domain_claimed" },
  });
}

async function endEverything(
  tx: Tx,
  account: { readonly id: string; readonly email_key: string },
  { keepPasskeys }: { readonly keepPasskeys: boolean },
): Promise<EndedAccess> {
  // Before the sessions end: they hold the IP addresses the account was used from.
  await deleteSignInHistory(tx, account.id, account.email_key);
  await deletePersonalHooks(tx, account.id);
  // A second factor stays: it gives no access, and without it a mailbox would be enough to get past it.
  if (!keepPasskeys) await tx.deleteFrom("passkeys").where("user_id", "=", account.id).execute();
  const ended = await endAccess(tx, account.id);
  // Hooks created in a session depend only on the account, which stays, so they are disabled here.
  await sql`
    select parley_disable_hooks(array(select id from hooks where created_by = ${account.id}),
      ${sentences.hook_email_proved})`.execute(tx);
  return ended;
}
