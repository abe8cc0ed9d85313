import { sql } from "kysely";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Executor, Tx } from "../db/database.ts";
import type { Position } from "../http/cursor.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import type { AccessTokenType } from "./access-tokens.ts";
import { AccountError, createAccessToken } from "./service.ts";

/** One token as lists show it; nothing in it lets anybody in. */
export interface ListedToken {
  readonly id: string;
  readonly type: Exclude<AccessTokenType, "oauth">;
  readonly name: string;
  readonly user_id: string;
  readonly user_email: string;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
}

const columns = [
  "t.id",
  "t.type",
  "t.name",
  "t.user_id",
  "u.email as user_email",
  "t.created_at",
  "t.last_used_at",
  "t.expires_at",
] as const;

/** Issues a token for the caller, or in the caller's name for the workspace. @returns its id and the token itself. */
export async function issueToken(
  tx: Tx,
  actor: AuditActor,
  principal: Principal,
  wanted: { type: "personal_access_token" | "workspace_access_token"; name: string; expiresAt: Date | null },
): Promise<{ id: string; token: string }> {
  if (wanted.type === "workspace_access_token" && principal.role !== "admin")
    throw new ProblemError("forbidden", "only admins issue workspace tokens");
  if (wanted.expiresAt !== null && wanted.expiresAt <= new Date())
    throw invalidInput([{ pointer: "/expires_at", detail: "must be in the future" }]);
  // Or who has found a token that soon expires would have one for ever.
  const limit = principal.tokenType === "personal_access_token" ? principal.expiresAt : null;
  if (limit !== null && (wanted.expiresAt === null || wanted.expiresAt > limit))
    throw invalidInput([
      {
        pointer: "/expires_at",
        detail: `must be ${limit.toISOString()} at the latest, when the token that asks expires`,
      },
    ]);
  // Somebody may have deactivated or demoted the caller at this moment.
  const made = await createAccessToken(tx, { ...wanted, email: principal.emailKey }).catch(
    (error: unknown) => {
      throw error instanceof AccountError ? new ProblemError("forbidden", error.message) : error;
    },
  );
  await recordAudit(tx, actor, {
    action: "token_issued",
    subject: { type: "token", id: made.id },
    details: { type: wanted.type, name: wanted.name, expires_at: wanted.expiresAt?.toISOString() ?? null },
  });
  return made;
}

/**
 * Tokens of a workspace, or of one user of it, that are good now; newest first. Those of apps are not among them: people
 * see the apps they have let in (`oauth/management-queries.ts`).
 */
export async function findTokens(
  db: Executor,
  workspaceId: string,
  filter: {
    readonly userId?: string;
    readonly after?: Position | null;
    /** At most so many; all by default. */
    readonly limit?: number;
  } = {},
): Promise<ListedToken[]> {
  const rows = await db
    .selectFrom("access_tokens as t")
    .innerJoin("users as u", "u.id", "t.user_id")
    .select([...columns])
    .where("t.workspace_id", "=", workspaceId)
    .where("t.type", "!=", "oauth")
    .where("t.revoked_at", "is", null)
    .where(sql<boolean>`(t.expires_at is null or t.expires_at > now())`)
    .$if(filter.userId !== undefined, (query) => query.where("t.user_id", "=", filter.userId ?? ""))
    .$if(filter.after != null, (query) =>
      query.where(sql<boolean>`(t.created_at, t.id) < (${filter.after?.at}, ${filter.after?.id}::uuid)`),
    )
    .orderBy("t.created_at", "desc")
    .orderBy("t.id", "desc")
    .$if(filter.limit !== undefined, (query) => query.limit(filter.limit ?? 0))
    .execute();
  return rows as ListedToken[];
}

/** A token that was issued just now; undefined when it has been revoked already. */
export async function findIssuedToken(db: Executor, id: string): Promise<ListedToken | undefined> {
  const row = await db
    .selectFrom("access_tokens as t")
    .innerJoin("users as u", "u.id", "t.user_id")
    .select([...columns])
    .where("t.id", "=", id)
    .where("t.revoked_at", "is", null)
    .executeTakeFirst();
  return row as ListedToken | undefined;
}

/**
 * Revokes a token of the workspace, or of one user of it.
 * @throws ProblemError `not_found` when there is none, or it was revoked before.
 */
export async function revokeToken(
  tx: Tx,
  actor: AuditActor,
  tokenId: string,
  ofUser: string | null,
): Promise<void> {
  const revoked = await tx
    .updateTable("access_tokens")
    .set({ revoked_at: sql`now()` })
    .where("id", "=", tokenId)
    .where("workspace_id", "=", actor.workspaceId)
    .where("revoked_at", "is", null)
    .$if(ofUser !== null, (query) => query.where("user_id", "=", ofUser ?? ""))
    .returning(["type", "name", "user_id"])
    .executeTakeFirst();
  if (revoked === undefined) throw new ProblemError("not_found", `there is no token ${tokenId} to revoke`);
  await recordAudit(tx, actor, {
    action: "token_revoked",
    subject: { type: "token", id: tokenId },
    details: { type: revoked.type, name: revoked.name, user_id: revoked.user_id },
  });
}
