import { createHash, randomBytes, randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type pg from "pg";
import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import type { StoredRules } from "../../../platform/db/json-columns.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";

/** More than providers a workspace could have. */
const maxTokens = 20;

/** Names of ignored attributes that are counted for a token. */
const maxIgnored = 50;

const prefix = "parley_scim_";

/** 256 random bits as base64url take 43 characters. */
const tokenPattern = /^parley_scim_[A-Za-z0-9_-]{43}$/;

/** Who sends a SCIM request: a token of a workspace. */
export interface ScimCaller {
  readonly tokenId: string;
  readonly workspaceId: string;
  /** The security rules of the workspace; null: none. */
  readonly rules: StoredRules | null;
  /** Its last recorded use is more than a minute ago. */
  readonly useIsOld: boolean;
}

/** A token as lists show it. */
export interface ScimTokenRow {
  readonly id: string;
  readonly name: string;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  /** Attributes that were sent and aren't kept, each with the number of requests. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** Creates a token for a workspace. @returns its id and the token itself, which can't be shown again. */
export async function createScimToken(
  tx: Tx,
  actor: AuditActor,
  name: string,
): Promise<{ id: string; token: string }> {
  const { workspaceId, userId } = actor;
  await sql`select id from workspaces where id = ${workspaceId} for no key update`.execute(tx);
  // The caller may have been deactivated or demoted since the request began.
  if (userId !== null && !(await isAdmin(tx, userId)))
    throw new ProblemError("forbidden", "only admins can create SCIM tokens");
  if ((await findScimTokens(tx, workspaceId)).length >= maxTokens)
    throw new ProblemError("quota_exceeded", because("scim_token_limit", { limit: maxTokens }));
  const id = randomUUIDv7();
  const token = prefix + randomBytes(32).toString("base64url");
  await tx
    .insertInto("scim_tokens")
    .values({ id, workspace_id: workspaceId, name, hash: hashOf(token), created_by: userId })
    .execute();
  await recordAudit(tx, actor, {
    action: "scim_token_created",
    subject: { type: "scim_token", id },
    details: { name },
  });
  return { id, token };
}

async function isAdmin(tx: Tx, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("users")
    .select("id")
    .where("id", "=", userId)
    .where("role", "=", "admin")
    .where("deactivated_at", "is", null)
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

/** Active tokens of a workspace, the newest first. */
export async function findScimTokens(db: Executor, workspaceId: string): Promise<ScimTokenRow[]> {
  const { rows } = await sql<ScimTokenRow>`
    select id, name, created_by, created_at, last_used_at, ignored
    from scim_tokens where workspace_id = ${workspaceId} and revoked_at is null
    order by created_at desc, id desc`.execute(db);
  return rows;
}

/** Revokes a token of the workspace. @throws ProblemError `not_found`. */
export async function revokeScimToken(tx: Tx, actor: AuditActor, id: string): Promise<void> {
  const row = await tx
    .updateTable("scim_tokens")
    .set({ revoked_at: sql`now()` })
    .where("id", "=", id)
    .where("workspace_id", "=", actor.workspaceId)
    .where("revoked_at", "is", null)
    .returning("name")
    .executeTakeFirst();
  if (row === undefined) throw new ProblemError("not_found", `there is no SCIM token ${id} to revoke`);
  await recordAudit(tx, actor, {
    action: "scim_token_revoked",
    subject: { type: "scim_token", id },
    details: { name: row.name },
  });
}

/** SQL: token t is active. One that an admin created ends when they are no longer an active admin. */
const isActive = `t.revoked_at is null and (t.created_by is null or exists (
             select from users u where u.id = t.created_by and u.role = 'admin' and u.deactivated_at is null))`;

/** Finds an active token. */
export async function findScimToken(pool: pg.Pool, token: string): Promise<ScimCaller | null> {
  if (!tokenPattern.test(token)) return null;
  const { rows } = await pool.query<{
    id: string;
    workspace_id: string;
    security_rules: StoredRules | null;
    use_is_old: boolean;
  }>({
    name: "find_scim_token",
    text: `select t.id, t.workspace_id, w.security_rules,
             (t.last_used_at is null or t.last_used_at < now() - interval '1 minute') as use_is_old
           from scim_tokens t join workspaces w on w.id = t.workspace_id
           where t.hash = $1 and ${isActive}`,
    values: [hashOf(token)],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { id, workspace_id, security_rules, use_is_old } = row;
  return { tokenId: id, workspaceId: workspace_id, rules: security_rules, useIsOld: use_is_old };
}

/** Whether a token is still active while a request runs. */
export async function isScimTokenActive(pool: pg.Pool, { tokenId }: ScimCaller): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: "is_scim_token_active",
    text: `select from scim_tokens t where t.id = $1 and ${isActive}`,
    values: [tokenId],
  });
  return rowCount === 1;
}

/** Records a use, at most once a minute. */
export async function touchScimToken(pool: pg.Pool, id: string, ip: string): Promise<void> {
  await pool.query({
    name: "touch_scim_token",
    text: `update scim_tokens set last_used_at = now(), last_ip = $2
           where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    values: [id, ip],
  });
}

/** Counts attributes of a request that aren't kept, by name and without their values, for the admins to see. */
export async function countIgnored(pool: pg.Pool, id: string, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  await pool.query({
    name: "count_ignored_scim_attributes",
    text: `update scim_tokens t set ignored = t.ignored || coalesce((
             select jsonb_object_agg(name, coalesce((t.ignored ->> name)::bigint, 0) + 1)
             from unnest($2::text[]) with ordinality as given (name, position)
             where t.ignored ? name
               or position + (select count(*) from jsonb_object_keys(t.ignored)) <= ${maxIgnored}), '{}')
           where id = $1`,
    values: [id, names],
  });
}

/** Like the hash of other tokens: 256 random bits can't be guessed, so a plain SHA-256 suffices. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
