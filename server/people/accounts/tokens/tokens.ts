import type { FastifyRequest } from "fastify";
import { type RawBuilder, sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { enforceQuota } from "../../../platform/http/limits/quota.ts";
import type { PageQuery, Position } from "../../../platform/http/page.ts";
import { holdMembership } from "../../access/grants.ts";
import { endOf, findRules } from "../../access/security-rules.ts";
import { AccountError, createAccessToken } from "../service.ts";
import type { AccessTokenType } from "./access-tokens.ts";
import { mayCreateCredential } from "./credential-check.ts";

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
  readonly datetime_filters: DatetimeFilters | null;
  readonly compatibility: Compatibility | null;
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
  "t.datetime_filters",
  "t.compatibility",
] as const;

/**
 * Issues a personal token of the caller, or a workspace token.
 * @param limit active tokens that the caller may have; 0: any number.
 * @returns its id and the token itself.
 */
export async function issueToken(
  tx: Tx,
  actor: AuditActor,
  { principal, ip, server }: Pick<FastifyRequest, "principal" | "ip" | "server">,
  wanted: {
    readonly type: "personal_access_token" | "workspace_access_token";
    readonly name: string;
    readonly expiresAt: Date | null;
    readonly datetimeFilters: DatetimeFilters;
    readonly compatibility: Compatibility;
  },
  limit: number,
): Promise<{ id: string; token: string }> {
  if (wanted.type === "workspace_access_token" && principal.role !== "admin")
    throw new ProblemError("forbidden", "only admins can issue workspace tokens");
  if (wanted.expiresAt !== null && wanted.expiresAt <= new Date())
    throw invalidInput([{ pointer: "/expires_at", detail: "must be in the future" }]);
  // Otherwise someone who found a token that expires soon could replace it by a permanent one.
  const latest = principal.tokenType === "personal_access_token" ? principal.expiresAt : null;
  if (latest !== null && (wanted.expiresAt === null || wanted.expiresAt > latest))
    throw invalidInput([
      {
        pointer: "/expires_at",
        ...because("token_outlives_token", { latest: latest.toISOString() }),
      },
    ]);
  await holdMembership(tx, principal.workspaceId);
  const allowed = endOf(await findRules(tx, principal.workspaceId), {
    since: new Date(),
    expiresAt: null,
    kind: "token",
  });
  if (allowed !== null && wanted.expiresAt !== null && wanted.expiresAt > allowed)
    throw invalidInput([
      {
        pointer: "/expires_at",
        ...because("token_outlives_rule", { latest: allowed.toISOString() }),
      },
    ]);
  await enforceQuota(tx, {
    name: "tokens",
    owner: principal.userId,
    limit,
    count: () => countActiveTokens(tx, principal.userId),
    refusal: "token_quota",
  });
  // The caller may have just been deactivated or demoted.
  const made = await createAccessToken(tx, {
    ...wanted,
    email: principal.emailKey,
    createdByTokenId: principal.tokenType === "personal_access_token" ? principal.tokenId : null,
  }).catch((error: unknown) => {
    throw error instanceof AccountError ? new ProblemError("forbidden", error.message) : error;
  });
  // A request whose credential has ended in the meantime must not create a new one. The account is locked by now.
  if (!(await mayCreateCredential(tx, { principal, ip }, server.acceptsIssuer)))
    throw new ProblemError("forbidden", "the session or token of this request has ended; sign in again");
  await recordAudit(tx, actor, {
    action: "token_issued",
    subject: { type: "token", id: made.id },
    details: { type: wanted.type, name: wanted.name, expires_at: wanted.expiresAt?.toISOString() ?? null },
  });
  return made;
}

/** How many active personal and workspace tokens a user has issued, without those of apps. */
async function countActiveTokens(db: Executor, userId: string): Promise<number> {
  const row = await db
    .selectFrom("access_tokens")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where("user_id", "=", userId)
    .where("type", "!=", "oauth")
    .where("revoked_at", "is", null)
    .where(sql<boolean>`(expires_at is null or expires_at > now())`)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Active tokens of a workspace or of one of its users, newest first, without those of apps, which are listed as authorized
 * apps (`oauth/clients/management-queries.ts`).
 */
export async function findTokens(
  db: Executor,
  workspaceId: string,
  filter: { readonly userId?: string } & Partial<PageQuery<Position>> = {},
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
 * Revokes a token of the workspace, or of one user of it, and the tokens that were created with it, however many steps
 * away.
 * @returns the ids of all of them.
 * @throws ProblemError `not_found` when there is none, or it was revoked before.
 */
export async function revokeToken(
  tx: Tx,
  actor: AuditActor,
  tokenId: string,
  ofUser: string | null,
): Promise<string[]> {
  const [first] = await revokeWhere(
    tx,
    sql`id = ${tokenId} and workspace_id = ${actor.workspaceId}
      and (${ofUser}::uuid is null or user_id = ${ofUser}::uuid)`,
  );
  if (first === undefined) throw new ProblemError("not_found", `there is no token ${tokenId} to revoke`);
  const revoked = [first];
  // A level is revoked before the next is looked up: nothing can be created with its tokens any more.
  for (let level = [first]; level.length > 0; ) {
    level = await revokeWhere(tx, sql`created_by_token_id = any(${level.map(({ id }) => id)}::uuid[])`);
    revoked.push(...level);
  }
  for (const { id, type, name, user_id } of revoked)
    await recordAudit(tx, actor, {
      action: "token_revoked",
      subject: { type: "token", id },
      details: { type, name, user_id, ...(id === first.id ? {} : { created_with: first.id }) },
    });
  return revoked.map(({ id }) => id);
}

interface RevokedToken {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly user_id: string;
}

async function revokeWhere(tx: Tx, which: RawBuilder<unknown>): Promise<RevokedToken[]> {
  const { rows } = await sql<RevokedToken>`
    update access_tokens set revoked_at = now()
    where id in (
      select id from access_tokens where revoked_at is null and type <> 'oauth' and ${which} order by id for update)
      and revoked_at is null
    returning id, type, name, user_id`.execute(tx);
  return rows;
}
