import { sql } from "kysely";
import type { Role } from "../../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { findRules, isBreakGlass } from "../../access/security-rules.ts";

/** A user as admins see them. */
export interface UserAccountRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly deactivated_at: Date | null;
  readonly invited_at: Date | null;
  readonly last_signed_in_at: Date | null;
  readonly created_at: Date;
  readonly team_ids: string[];
  readonly single_sign_on: boolean;
  readonly has_password: boolean;
  readonly has_second_factor: boolean;
  readonly has_passkeys: boolean;
}

/** All users of a workspace by name, or one of them. */
export async function findUserAccounts(
  db: Executor,
  workspaceId: string,
  userId?: string,
): Promise<UserAccountRow[]> {
  const { rows } = await sql<UserAccountRow>`
    select u.id, u.name, u.email, u.role, u.deactivated_at, u.invited_at, u.last_signed_in_at, u.created_at,
      array(select m.team_id from team_members m where m.user_id = u.id order by m.team_id) as team_ids,
      exists (select 1 from identities i where i.user_id = u.id) as single_sign_on,
      u.password_hash is not null as has_password,
      exists (select from second_factors f where f.user_id = u.id and f.confirmed_at is not null)
        as has_second_factor,
      exists (select from passkeys p where p.user_id = u.id) as has_passkeys
    from users u
    where u.workspace_id = ${workspaceId} and (${userId ?? null}::uuid is null or u.id = ${userId ?? null}::uuid)
    order by u.name, u.id`.execute(db);
  return rows;
}

/** Whether a user is active, invited or deactivated. */
export function stateOf(row: Pick<UserAccountRow, "deactivated_at" | "invited_at">) {
  if (row.deactivated_at !== null) return "deactivated" as const;
  return row.invited_at === null ? ("active" as const) : ("invited" as const);
}

/** A user's account, locked for a change. */
export interface LockedAccount {
  readonly id: string;
  readonly workspace_id: string;
  readonly name: string;
  readonly email: string;
  readonly email_key: string;
  readonly email_language: string | null;
  readonly email_time_zone: string | null;
  readonly role: Role;
  readonly deactivated_at: Date | null;
  readonly invited_at: Date | null;
}

/** Locks an account of a workspace: concurrent changes, sign-ins and new tokens wait. */
export async function lockAccount(
  tx: Tx,
  workspaceId: string,
  userId: string,
): Promise<LockedAccount | undefined> {
  const row = await tx
    .selectFrom("users")
    .select([
      ...(["id", "workspace_id", "name", "email", "email_key", "role"] as const),
      ...(["email_language", "email_time_zone", "deactivated_at", "invited_at"] as const),
    ])
    .where("id", "=", userId)
    .where("workspace_id", "=", workspaceId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row as LockedAccount | undefined;
}

/** The time zone of a user's emails. @param userId null: no user. */
export async function findTimeZone(tx: Tx, userId: string | null): Promise<string | null> {
  if (userId === null) return null;
  const row = await tx
    .selectFrom("users")
    .select("email_time_zone")
    .where("id", "=", userId)
    .executeTakeFirst();
  return row?.email_time_zone ?? null;
}

/** Why an admin has to stay one. */
export type AdminNeed = "last_admin" | "break_glass_admin";

/** Why a workspace can't do without an admin; null: it can. The caller has locked the membership. */
export async function findAdminNeed(tx: Tx, workspaceId: string, userId: string): Promise<AdminNeed | null> {
  if (!(await hasOtherAdmin(tx, workspaceId, userId))) return "last_admin";
  return isBreakGlass(await findRules(tx, workspaceId), userId) ? "break_glass_admin" : null;
}

/** Whether the workspace has another admin who is active and has accepted the invitation. */
async function hasOtherAdmin(tx: Tx, workspaceId: string, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "!=", userId)
    .where("role", "=", "admin")
    .where("deactivated_at", "is", null)
    .where("invited_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function findWorkspaceName(db: Executor, workspaceId: string): Promise<string> {
  const row = await db
    .selectFrom("workspaces")
    .select("name")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return row.name;
}
