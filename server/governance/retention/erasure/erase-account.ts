import { sql } from "kysely";
import { changeMembership, syncGrants } from "../../../people/access/grants.ts";
import { deleteSignInHistory } from "../../../people/accounts/sign-in/throttle.ts";
import { endAccess } from "../../../people/accounts/users/end-access.ts";
import { type LockedAccount, lockAccount } from "../../../people/accounts/users/queries.ts";
import { refuseToLoseAdmin } from "../../../people/accounts/users/users.ts";
import { deletePersonalHooks } from "../../../people/events/hooks.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { eraseFromComments, recordingsCommentedBy } from "../../../recordings/comments/erase.ts";
import { erasedName } from "./data-subject.ts";

/**
 * Erases a person's account in the workspace, if there is one. The row stays without personal data, because recordings,
 * hooks and rules refer to their creator.
 * @returns the account and its former name.
 * @throws ProblemError `wrong_state` for the last active admin.
 */
export async function eraseAccount(
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<{ id: string; name: string } | null> {
  // Locked in the same order as everywhere: membership, recordings, account.
  await changeMembership(tx, workspaceId);
  const found = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email_key", "=", sql<string>`parley_lower(${email})`)
    .executeTakeFirst();
  if (found === undefined) return null;
  const recordingIds = await lockShared(tx, found.id);
  const account = await lockAccount(tx, workspaceId, found.id);
  if (account === undefined) return null;
  await requireAdminBesides(tx, account);
  await deleteSignInHistory(tx, account.id, account.email_key);
  // Before disabling the hooks: their waiting deliveries are locked first.
  await deletePersonalHooks(tx, account.id);
  await endAccess(tx, account.id);
  for (const table of [
    "sessions",
    "identities",
    "one_time_links",
    "second_factors",
    "recovery_codes",
    "passkeys",
    "known_devices",
    "private_notes",
    "calendars",
    "meeting_notes",
    "ask_threads",
    "summary_feedback",
    "ask_leases",
    "recording_user_shares",
    "access_requests",
    "notifications",
    "notification_settings",
    "team_members",
    "oauth_grants",
    "access_tokens",
  ] as const)
    await tx.deleteFrom(table).where("user_id", "=", account.id).execute();
  await tx
    .updateTable("users")
    .set({
      name: erasedName,
      email: `${account.id}@erased.invalid`,
      external_id: null,
      given_name: null,
      family_name: null,
      language: null,
      browser_language: null,
      time_zone: null,
      browser_time_zone: null,
      role: "viewer",
      password_hash: null,
      invited_at: null,
      last_signed_in_at: null,
      deactivated_at: sql<Date>`coalesce(deactivated_at, now())`,
    })
    .where("id", "=", account.id)
    .execute();
  await tx.updateTable("notifications").set({ actor_id: null }).where("actor_id", "=", account.id).execute();
  await eraseFromComments(tx, workspaceId, account.id);
  await syncGrants(tx, recordingIds);
  return { id: account.id, name: account.name };
}

/** @throws ProblemError `wrong_state` for the last active admin and the break-glass admin. */
export async function requireAdminBesides(tx: Tx, account: LockedAccount): Promise<void> {
  if (account.role === "admin" && account.deactivated_at === null && account.invited_at === null)
    await refuseToLoseAdmin(tx, account);
}

/** Locks the recordings that are shared with a user, as sharing does, and those with the user's comments. */
async function lockShared(tx: Tx, userId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recordings r
    where r.id in (
      select recording_id from recording_user_shares where user_id = ${userId}
      union all (${recordingsCommentedBy(userId)}))
    order by r.id for update of r`.execute(tx);
  return rows.map((row) => row.id);
}
