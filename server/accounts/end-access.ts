import { sql } from "kysely";
import type { Tx } from "../db/database.ts";
import { revokeGrantsOfUser } from "../oauth/families.ts";
import { deleteLinks } from "./one-time-links.ts";
import { endSessions } from "./sessions.ts";

/** What was ended. */
export interface EndedAccess {
  readonly sessions: number;
  readonly tokens: number;
}

/**
 * Ends everything that lets a person in, or programs in the person's name: sessions, personal tokens, access of apps,
 * tokens of the workspace that the person issued, links under way. Recordings stay.
 */
export async function endAccess(tx: Tx, userId: string): Promise<EndedAccess> {
  const ofApps = await countAppTokens(tx, userId);
  // Before all tokens: whoever refreshes or revokes a token of an app holds the grant first.
  await revokeGrantsOfUser(tx, userId);
  const tokens = ofApps + (await revokeTokens(tx, userId));
  await deleteLinks(tx, userId);
  return { tokens, sessions: await endSessions(tx, userId) };
}

async function countAppTokens(tx: Tx, userId: string): Promise<number> {
  const row = await tx
    .selectFrom("access_tokens")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where("user_id", "=", userId)
    .where("type", "=", "oauth")
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Revokes the tokens that a user issued, all of them or those of one type. Those of apps are left to their grants, whose
 * lock comes first. @returns how many were good until now.
 */
export async function revokeTokens(tx: Tx, userId: string, type?: "workspace_access_token"): Promise<number> {
  const rows = await tx
    .updateTable("access_tokens")
    .set({ revoked_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where("type", "!=", "oauth")
    .$if(type !== undefined, (query) => query.where("type", "=", type ?? ""))
    .returning("id")
    .execute();
  return rows.length;
}
