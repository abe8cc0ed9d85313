import { sql } from "kysely";
import { sentences } from "../../../../contract/sentences.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";

/** The access that a hook depends on: when it ends, triggers disable the hook. */
export interface HookAccess {
  /** The user the hook acts for. */
  readonly created_by: string;
  /** The personal or workspace token; null for a signed-in user and for an app. */
  readonly token_id: string | null;
  readonly oauth_grant_id: string | null;
  readonly oauth_family_id: string | null;
  /** When the token expires. */
  readonly access_until: Date | null;
}

/**
 * Locks the caller's access until the end of the transaction: a revocation waits, and then finds the hook. The order is the
 * user, the app's grant, the token, as in a deactivation.
 * @throws ProblemError `forbidden` if the access has ended since the request was authenticated.
 */
export async function holdAccess(tx: Tx, principal: Principal): Promise<HookAccess> {
  const { userId, tokenId, tokenType, scope } = principal;
  const access = { created_by: userId, token_id: null, oauth_grant_id: null, oauth_family_id: null };
  const user = await tx
    .selectFrom("users")
    .select("role")
    .where("id", "=", userId)
    .where("deactivated_at", "is", null)
    .forShare()
    .executeTakeFirst();
  if (user === undefined || user.role === "viewer" || (scope === "workspace" && user.role !== "admin"))
    throw accessEnded();
  if (tokenType === "session") return { ...access, access_until: null };
  if (tokenType === "oauth") {
    const { rows } = await sql<{ grant_id: string; family_id: string }>`
      select g.id as grant_id, f.id as family_id from access_tokens t
      join oauth_families f on f.id = t.oauth_family_id
      join oauth_grants g on g.id = f.grant_id
      where t.id = ${tokenId} for key share of g, f`.execute(tx);
    if (rows[0] === undefined) throw accessEnded();
    const { grant_id, family_id } = rows[0];
    return { ...access, oauth_grant_id: grant_id, oauth_family_id: family_id, access_until: null };
  }
  const token = await tx
    .selectFrom("access_tokens")
    .select("expires_at")
    .where("id", "=", tokenId)
    .where("revoked_at", "is", null)
    .where(sql<boolean>`(expires_at is null or expires_at > now())`)
    .forShare()
    .executeTakeFirst();
  if (token === undefined) throw accessEnded();
  return { ...access, token_id: tokenId, access_until: token.expires_at };
}

function accessEnded(): ProblemError {
  return new ProblemError("forbidden", "your access was just revoked; sign in again or use another token");
}

/**
 * Whether the access that a hook depends on is still valid; locked like `holdAccess` does, and before the hook itself.
 */
export async function holdAccessOf(tx: Tx, hook: HookAccess & { readonly scope: string }): Promise<boolean> {
  const { rows: users } = await sql`
    select 1 from users where id = ${hook.created_by} and deactivated_at is null and role <> 'viewer'
      and (role = 'admin' or ${hook.scope} <> 'workspace') for share`.execute(tx);
  if (users.length === 0) return false;
  if (hook.oauth_grant_id !== null) {
    const { rows } = await sql`
      select 1 from oauth_grants where id = ${hook.oauth_grant_id} for key share`.execute(tx);
    if (rows.length === 0) return false;
  }
  if (hook.oauth_family_id !== null) {
    const { rows } = await sql`
      select 1 from oauth_families where id = ${hook.oauth_family_id} for key share`.execute(tx);
    if (rows.length === 0) return false;
  }
  if (hook.token_id === null) return true;
  const { rows } = await sql`
    select 1 from access_tokens where id = ${hook.token_id} and revoked_at is null
      and (expires_at is null or expires_at > now()) for share`.execute(tx);
  return rows.length > 0;
}

/** Whether two versions of a hook depend on the same access. */
export function isSameAccess(one: HookAccess, other: HookAccess): boolean {
  return (
    one.created_by === other.created_by &&
    one.token_id === other.token_id &&
    one.oauth_grant_id === other.oauth_grant_id &&
    one.oauth_family_id === other.oauth_family_id
  );
}

/** Disables the hooks whose token has expired. Nothing has been sent to them since it did. */
export async function disableExpiredHooks(db: Executor): Promise<void> {
  await sql`
    select parley_disable_hooks(array(
      select id from hooks where access_until <= now() and disabled_at is null limit 1000),
      ${sentences.hook_token_expired})`.execute(db);
}

export const disableExpiredHooksKind = defineRecurringJob({
  name: "disable_expired_hooks",
  label: (i18n) => i18n.t("Disable expired hooks"),
  every: "sweep",
  guard: "age",
  // Nothing is sent to them in any case; disabling them can't be undone by correcting the clock.
  handler: ({ db }) => disableExpiredHooks(db.kysely),
});
