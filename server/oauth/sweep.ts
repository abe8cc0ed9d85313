import { sql } from "kysely";
import type { Database } from "../db/database.ts";
import { refreshIdleDays } from "./grants/refresh-token.ts";

/** How long a used refresh token is remembered, so that its reuse is noticed. */
const rotatedKeptDays = 90;

/**
 * Removes what has ended: codes and access tokens a day after, families nobody has used for long, and grants of which
 * nothing is left. A code whose tokens are still good stays, so that its reuse takes them back however late.
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
  // Legacy clients have no refresh token, and their access tokens don't expire.
  await sql`delete from oauth_families f
            where f.last_used_at < now() - make_interval(days => ${refreshIdleDays})
              and not exists (select 1 from access_tokens t where t.oauth_family_id = f.id and t.expires_at is null)`.execute(
    kysely,
  );
  // A grant that was used within the hour may be on its way to its first tokens.
  await kysely.transaction().execute(async (tx) => {
    // Nobody took anything back: the hooks of the app go on.
    await sql`set local parley.tidying = 'on'`.execute(tx);
    await sql`delete from oauth_grants g
              where g.last_used_at < now() - interval '1 hour'
                and not exists (select 1 from oauth_families f where f.grant_id = g.id)`.execute(tx);
  });
}
