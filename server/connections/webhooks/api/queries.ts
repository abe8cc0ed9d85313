import { type Selectable, sql } from "kysely";
import type { HookType } from "../../../../contract/webhooks/hook-types.ts";
import { managesWorkspace } from "../../../people/access/manages-workspace.ts";
import { deleteHooksWhere } from "../../../people/events/hooks.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import type { Hooks } from "../../../platform/db/types.ts";
import type { HookAccess } from "./access.ts";

/** A webhook: one row of hooks, which also has deliveries (connections/deliveries). */
export type HookRow = Selectable<Hooks> & { readonly hook_type: HookType };

/**
 * Whether a hook is enabled and its token has not expired, as SQL.
 * @param alias of the table `hooks`.
 */
export function isOn(alias: string): string {
  return `(${alias}.disabled_at is null and (${alias}.access_until is null or ${alias}.access_until > now()))`;
}

/** The hooks a token manages: a personal token its user's own, a workspace token those created with workspace tokens. */
function isOwn(principal: Principal) {
  return principal.scope === "workspace"
    ? isOfWorkspace(principal)
    : sql<boolean>`created_by = ${principal.userId} and scope = 'personal'`;
}

/** The principal's own hooks, and those of the workspace if the principal manages them. */
function isManagedBy(principal: Principal) {
  return managesWorkspace(principal)
    ? sql<boolean>`(${isOwn(principal)} or ${isOfWorkspace(principal)})`
    : isOwn(principal);
}

function isOfWorkspace({ workspaceId }: Principal) {
  return sql<boolean>`workspace_id = ${workspaceId} and scope = 'workspace'`;
}

export async function insertHook(
  db: Executor,
  hook: Pick<
    HookRow,
    | "id"
    | "workspace_id"
    | "scope"
    | "version"
    | "hook_url"
    | "hook_type"
    | "include"
    | "secret"
    | "credentials"
    | keyof HookAccess
  >,
): Promise<HookRow> {
  const row = await db
    .insertInto("hooks")
    .values({ ...hook, include: JSON.stringify(hook.include) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return row as HookRow;
}

/** The hooks of the principal's scope, or else of the workspace, with these types, newest first. */
export async function findHooks(
  db: Executor,
  principal: Principal,
  filter: {
    readonly types: readonly HookType[];
    readonly state: "enabled" | "disabled" | undefined;
    readonly of?: "token" | "workspace";
  },
): Promise<HookRow[]> {
  if (filter.types.length === 0) return [];
  const rows = await db
    .selectFrom("hooks")
    .selectAll()
    .where(filter.of === "workspace" ? isOfWorkspace(principal) : isOwn(principal))
    .where("hook_type", "in", filter.types)
    .$if(filter.state === "enabled", (query) => query.where(sql<boolean>`${sql.raw(isOn("hooks"))}`))
    .$if(filter.state === "disabled", (query) => query.where(sql<boolean>`not ${sql.raw(isOn("hooks"))}`))
    .orderBy("inserted_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows as HookRow[];
}

/** A hook that the principal manages. */
export async function findHook(
  db: Executor,
  principal: Principal,
  hookId: string,
): Promise<HookRow | undefined> {
  const row = await db
    .selectFrom("hooks")
    .selectAll()
    .where("id", "=", hookId)
    .where("hook_type", "<>", "delivery")
    .where(isManagedBy(principal))
    .executeTakeFirst();
  return row as HookRow | undefined;
}

/** How many hooks a user has created. */
export async function countHooksOf(db: Executor, userId: string): Promise<number> {
  const row = await db
    .selectFrom("hooks")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where("created_by", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Deletes a hook with its deliveries. @returns whether there was one. */
export async function deleteHook(tx: Tx, principal: Principal, hookId: string): Promise<boolean> {
  return (
    (await deleteHooksWhere(
      tx,
      sql`id = ${hookId} and hook_type <> 'delivery' and ${isManagedBy(principal)}`,
    )) > 0
  );
}
