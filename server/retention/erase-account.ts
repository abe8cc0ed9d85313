import { sql } from "kysely";
import { changeMembership, syncGrants } from "../access/grants.ts";
import { endAccess } from "../accounts/end-access.ts";
import { keepAnAdmin } from "../accounts/people.ts";
import { type LockedAccount, lockAccount } from "../accounts/people-queries.ts";
import { forgetPlaces } from "../accounts/throttle.ts";
import type { Tx } from "../db/database.ts";
import { deletePersonalHooks } from "../hooks/queries.ts";
import { erasedName } from "./person.ts";

/**
 * Empties the account of a person, if they have one in the workspace. The row stays, without anything of the person,
 * since recordings, teams' hooks and rules name who made them.
 * @returns the account and what it was called.
 * @throws ProblemError `wrong_state` for the last active admin.
 */
export async function eraseAccount(
  tx: Tx,
  workspaceId: string,
  email: string,
): Promise<{ id: string; name: string } | null> {
  // In the order of all others: the membership, recordings, the account.
  await changeMembership(tx, workspaceId);
  const found = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email_key", "=", sql<string>`lower(${email})`)
    .executeTakeFirst();
  if (found === undefined) return null;
  const recordingIds = await lockShared(tx, found.id);
  const account = await lockAccount(tx, workspaceId, found.id);
  if (account === undefined) return null;
  await keepAnAdminWithout(tx, account);
  await forgetPlaces(tx, account.id, account.email_key);
  // Before the hooks are switched off: what waits for them is locked before they are.
  await deletePersonalHooks(tx, account.id);
  await endAccess(tx, account.id);
  for (const table of [
    "sessions",
    "identities",
    "one_time_links",
    "private_notes",
    "recording_user_shares",
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
      role: "viewer",
      password_hash: null,
      invited_at: null,
      last_signed_in_at: null,
      deactivated_at: sql<Date>`coalesce(deactivated_at, now())`,
    })
    .where("id", "=", account.id)
    .execute();
  await syncGrants(tx, recordingIds);
  return { id: account.id, name: account.name };
}

/** @throws ProblemError `wrong_state` when the account is that of the last active admin. */
export async function keepAnAdminWithout(tx: Tx, account: LockedAccount): Promise<void> {
  if (account.role === "admin" && account.deactivated_at === null && account.invited_at === null)
    await keepAnAdmin(tx, account);
}

/** Locks the recordings that are shared with a user, as whoever shares does. */
async function lockShared(tx: Tx, userId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select r.id from recordings r
    where r.id in (select recording_id from recording_user_shares where user_id = ${userId})
    order by r.id for update of r`.execute(tx);
  return rows.map((row) => row.id);
}
