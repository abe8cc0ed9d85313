import { sql } from "kysely";
import type { Tx } from "../../../platform/db/database.ts";
import type { HookAccess } from "../api/access.ts";
import type { HookRow } from "../api/queries.ts";

/** Disables a hook. @returns whether it was enabled. */
export async function disableHookRow(tx: Tx, hookId: string, reason: string): Promise<boolean> {
  const { rows } = await sql`
    update hooks set disabled_at = now(), disabled_reason = ${reason}
    where id = ${hookId} and disabled_at is null returning id`.execute(tx);
  return rows.length > 0;
}

/**
 * Enables a hook and clears its failures.
 * @param access the access that the hook ends with from now on.
 */
export async function enableHookRow(tx: Tx, hookId: string, access: HookAccess): Promise<void> {
  await sql`
    update hooks set disabled_at = null, disabled_reason = null, failing_since = null, paused_until = null,
      created_by = ${access.created_by}, token_id = ${access.token_id}, access_until = ${access.access_until},
      oauth_grant_id = ${access.oauth_grant_id}, oauth_family_id = ${access.oauth_family_id},
      next_due_at = parley_next_due(${hookId})
    where id = ${hookId}`.execute(tx);
}

/** A hook, locked for a change; undefined when it was deleted. */
export async function lockHook(tx: Tx, hookId: string): Promise<HookRow | undefined> {
  const row = await tx
    .selectFrom("hooks")
    .selectAll()
    .where("id", "=", hookId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row as HookRow | undefined;
}

/** Replaces the secret. @param until when the old one ends; null: now. */
export async function replaceSecret(
  tx: Tx,
  hookId: string,
  secret: Buffer,
  until: Date | null,
): Promise<boolean> {
  const { rows } = await sql`
    update hooks set secret = ${secret}, previous_secret = ${until === null ? sql`null` : sql.ref("secret")},
      previous_secret_until = ${until}
    where id = ${hookId} returning id`.execute(tx);
  return rows.length > 0;
}
