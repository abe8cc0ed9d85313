import { sql } from "kysely";
import type { Database } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { deleteUnusedClients } from "./clients/self-registered/store.ts";
import { refreshIdleDays } from "./token/grants/refresh-token.ts";

/** How long a used refresh token is remembered, so that its reuse is noticed. */
const rotatedKeptDays = 90;

/**
 * Removes expired codes and access tokens after a day, idle token families, grants without codes and tokens, and
 * self-registered apps that nobody uses. A code
 * whose tokens are still valid stays, so that reusing it revokes them however late.
 */
export async function sweepOAuth({ kysely }: Pick<Database, "kysely">): Promise<void> {
  await sql`delete from oauth_codes where expires_at < now() - interval '1 day' and family_id is null`.execute(
    kysely,
  );
  await sql`delete from access_tokens where type = 'oauth' and expires_at < now() - interval '1 day'`.execute(
    kysely,
  );
  await sql`delete from oauth_refresh_tokens
            where rotated_at < now() - make_interval(days => ${rotatedKeptDays})`.execute(kysely);
  await deleteUnusedClients(kysely);
  await kysely.transaction().execute(async (tx) => {
    // This access expires: the app's hooks move to other access it still has, and are disabled only without any.
    await sql`set local parley.expiring_access = 'on'`.execute(tx);
    // Legacy clients have no refresh token, and their access tokens don't expire.
    await sql`delete from oauth_families f
              where f.last_used_at < now() - make_interval(days => ${refreshIdleDays})
                and not exists (
                  select 1 from access_tokens t where t.oauth_family_id = f.id and t.expires_at is null)`.execute(
      tx,
    );
    // A grant used within the last hour may be about to get its first tokens.
    await sql`delete from oauth_grants g
              where g.last_used_at < now() - interval '1 hour'
                and not exists (select 1 from oauth_families f where f.grant_id = g.id)`.execute(tx);
  });
}

export const deleteEndedOauthGrantsKind = defineRecurringJob({
  name: "delete_ended_oauth_grants",
  label: (i18n) => i18n.t("Delete ended OAuth grants"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => sweepOAuth(db),
});
