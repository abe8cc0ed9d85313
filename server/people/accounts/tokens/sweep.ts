import { sql } from "kysely";
import type { Database } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";

/** How long an ended token is remembered: a client that still uses it can be found meanwhile. */
const endedKeptDays = 90;

/** Deletes personal, workspace and SCIM tokens that ended long ago. Those of apps have rules of their own (oauth/sweep.ts). */
async function sweepTokens({ kysely }: Pick<Database, "kysely">): Promise<void> {
  await sql`
    delete from access_tokens
    where type <> 'oauth' and least(revoked_at, expires_at) < now() - make_interval(days => ${endedKeptDays})`.execute(
    kysely,
  );
  await sql`
    delete from scim_tokens where revoked_at < now() - make_interval(days => ${endedKeptDays})`.execute(
    kysely,
  );
}

export const deleteEndedTokensKind = defineRecurringJob({
  name: "delete_ended_tokens",
  label: (i18n) => i18n.t("Delete ended tokens"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => sweepTokens(db),
});
