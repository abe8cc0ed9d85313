import { type RawBuilder, type Selectable, sql } from "kysely";
import type pg from "pg";
import type { HookType } from "../../contract/hooks.ts";
import type { VersionName } from "../../contract/versions.ts";
import type { Principal } from "../access/principal.ts";
import type { Executor, Tx } from "../db/database.ts";
import type { Hooks } from "../db/types.ts";
import { unpackOld } from "./batch-queries.ts";

/** One row of hooks. */
export type HookRow = Omit<Selectable<Hooks>, "hook_type" | "include" | "scope" | "version"> & {
  readonly hook_type: HookType;
  readonly include: Record<string, unknown>;
  readonly scope: "personal" | "workspace";
  readonly version: VersionName;
};

/** Which hooks a token manages: a personal one its user's own, a workspace one those made with workspace tokens. */
function isOwn(principal: Principal) {
  return principal.scope === "workspace"
    ? isOfWorkspace(principal)
    : sql<boolean>`created_by = ${principal.userId} and scope = 'personal'`;
}

/** Whether the hooks of the workspace are the principal's business: an admin's own, not that of an app they let in. */
export function looksAfterWorkspace({ scope, role, tokenType }: Principal): boolean {
  return scope === "workspace" || (role === "admin" && tokenType !== "oauth");
}

/** One's own, and those of the workspace where they are one's business. */
function isManagedBy(principal: Principal) {
  return looksAfterWorkspace(principal)
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
    | "created_by"
    | "scope"
    | "version"
    | "hook_url"
    | "hook_type"
    | "include"
    | "secret"
    | "oauth_grant_id"
  >,
): Promise<HookRow> {
  const row = await db
    .insertInto("hooks")
    .values({ ...hook, include: JSON.stringify(hook.include) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return row as unknown as HookRow;
}

/** The grant that an app's token came of, locked against being taken back; undefined when it was. */
export async function findGrantOfToken(tx: Tx, tokenId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select g.id from access_tokens t
    join oauth_families f on f.id = t.oauth_family_id
    join oauth_grants g on g.id = f.grant_id
    where t.id = ${tokenId} for key share of g`.execute(tx);
  return rows[0]?.id;
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
    .$if(filter.state === "enabled", (query) => query.where("disabled_at", "is", null))
    .$if(filter.state === "disabled", (query) => query.where("disabled_at", "is not", null))
    .orderBy("inserted_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows as unknown as HookRow[];
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
    .where(isManagedBy(principal))
    .executeTakeFirst();
  return row as unknown as HookRow | undefined;
}

/** How many hooks a scope has. */
export async function countHooks(db: Executor, principal: Principal): Promise<number> {
  const row = await db
    .selectFrom("hooks")
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .where(isOwn(principal))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Removes a hook with everything that waits for it. @returns whether there was one. */
export async function deleteHook(tx: Tx, principal: Principal, hookId: string): Promise<boolean> {
  return (await removeHooks(tx, sql`id = ${hookId} and ${isManagedBy(principal)}`)) > 0;
}

/** Removes the personal hooks of a person, with everything that waits for them. */
export async function deletePersonalHooks(tx: Tx, userId: string): Promise<void> {
  await removeHooks(tx, sql`created_by = ${userId} and scope = 'personal'`);
}

/** @param which of the hooks. @returns how many there were. */
async function removeHooks(tx: Tx, which: RawBuilder<unknown>): Promise<number> {
  // Batches and deliveries before their hook, in the order of their ids, as everywhere: or two would wait for each other.
  for (const table of ["delivery_batches", "delivered_batches", "deliveries"])
    await sql`
      select id from ${sql.table(table)} where hook_id in (select id from hooks where ${which})
      order by id for update`.execute(tx);
  const { numAffectedRows } = await sql`delete from hooks where ${which}`.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Deliveries and events are kept this long: what a receiver has missed can be repaired as long. */
export const keptDays = 30;

/**
 * Removes deliveries that are over and events that were handed on, once they are old; a thousand at a time. An event stays
 * as long as one of its deliveries: by it they are found when their recording is deleted. As an array, the ids are looked for
 * once, whatever the planner believes of tables that have just grown; joined, they may be looked for again for each row.
 */
export async function deleteOldHistory(pool: pg.Pool): Promise<void> {
  await unpackOld(pool);
  for (const statement of [
    `delete from deliveries where id = any(array(
       select id from deliveries where created_at < now() - make_interval(days => $1)
         and (state <> 'pending' or exists (
           select 1 from hooks h where h.id = deliveries.hook_id and h.disabled_at is not null)) limit 1000))`,
    `delete from delivered_batches where id = any(array(
       select id from delivered_batches where created_at < now() - make_interval(days => $1) limit 1000))`,
    `delete from events where id = any(array(
       select id from events where occurred_at < now() - make_interval(days => $1)
         and not exists (select 1 from waiting_events w where w.event_id = events.id)
         and not exists (select 1 from deliveries d where d.event_id = events.id)
         -- Older batches were unpacked just now, so the first of an event of the rest says enough.
         and not exists (select 1 from delivery_batches b where events.id >= b.event_ids[1])
         and not exists (
           select 1 from (select min(first_event) as least from delivered_batches) b where events.id >= b.least)
       limit 1000))`,
  ]) {
    let deleted: number | null;
    do {
      deleted = (await pool.query(statement, [keptDays])).rowCount;
    } while (deleted === 1000);
  }
}
