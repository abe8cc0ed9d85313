import type pg from "pg";
import { type Principal, type Role, roles } from "../../../platform/auth/principal.ts";
import { coalesce } from "../../../platform/coalesce.ts";

/**
 * Whether a caller's token or session is still valid and its user active, without a lower role, while a request runs.
 * Expiry doesn't count: what began before may finish.
 * @returns a check that shares its statement with concurrent ones.
 */
export function createCredentialCheck(pool: pg.Pool): (principal: Principal) => Promise<boolean> {
  return coalesce(
    async (principals: readonly Principal[]) => {
      const { rows } = await pool.query<{ id: string; role: Role }>({
        name: "active_credentials",
        text: `select t.id, u.role from access_tokens t join users u on u.id = t.user_id
               where t.id = any($1) and t.revoked_at is null and u.deactivated_at is null
               union all
               select s.id, u.role from sessions s join users u on u.id = s.user_id
               where s.id = any($1) and u.deactivated_at is null`,
        values: [principals.map(({ tokenId }) => tokenId)],
      });
      const current = new Map(rows.map(({ id, role }) => [id, role]));
      return principals.map(({ tokenId, role }) => {
        const now = current.get(tokenId);
        // From admin to viewer.
        return now !== undefined && roles.indexOf(now) <= roles.indexOf(role);
      });
    },
    { concurrency: 1, maxItems: 1000 },
  );
}
