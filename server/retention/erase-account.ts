import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import { erasedName } from "./erase-recording.ts";

/**
 * Empties the account of a person, if they have one in the workspace. The row stays, without anything of the person,
 * since recordings and rules name who made them.
 * @returns whether there was one.
 */
export async function eraseAccount(tx: Tx, workspaceId: string, email: string): Promise<boolean> {
  const user = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email_key", "=", sql<string>`lower(${email})`)
    .forUpdate()
    .executeTakeFirst();
  if (user === undefined) return false;
  for (const table of [
    "sessions",
    "identities",
    "one_time_links",
    "private_notes",
    "recording_user_shares",
    "team_members",
    "oauth_grants",
  ] as const)
    await tx.deleteFrom(table).where("user_id", "=", user.id).execute();
  await tx.deleteFrom("access_tokens").where("user_id", "=", user.id).execute();
  await tx.deleteFrom("hooks").where("created_by", "=", user.id).where("scope", "=", "personal").execute();
  await tx
    .updateTable("users")
    .set({
      name: erasedName,
      email: `${user.id}@erased.invalid`,
      password_hash: null,
      deactivated_at: sql<Date>`coalesce(deactivated_at, now())`,
    })
    .where("id", "=", user.id)
    .execute();
  return true;
}
