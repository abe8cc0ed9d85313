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
  const tokens = await revokeTokens(tx, userId);
  await revokeGrantsOfUser(tx, userId);
  await deleteLinks(tx, userId);
  return { tokens, sessions: await endSessions(tx, userId) };
}

/** Revokes the tokens of a user, all of them or those of one type. @returns how many were good until now. */
export async function revokeTokens(tx: Tx, userId: string, type?: "workspace_access_token"): Promise<number> {
  const rows = await tx
    .updateTable("access_tokens")
    .set({ revoked_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .$if(type !== undefined, (query) => query.where("type", "=", type ?? ""))
    .returning("id")
    .execute();
  return rows.length;
}
