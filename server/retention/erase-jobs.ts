import { sql } from "kysely";
import { mailRecipient } from "../accounts/mailer.ts";
import type { Tx } from "../db/database.ts";
import type { Sealer } from "../links/sealer.ts";

/**
 * Removes jobs that name a person, waiting or ended: wishes for a new password, and mail to them. The queue keeps them
 * for an hour after they have ended. One that runs ends by itself, and finds no account.
 */
export async function eraseFromJobs(tx: Tx, sealer: Sealer, email: string): Promise<void> {
  await sql`
    delete from pgboss.job
    where name = 'request_password_reset' and lower(data ->> 'email') = lower(${email})`.execute(tx);
  const { rows } = await sql<{ id: string; sealed: string }>`
    select id, data ->> 'sealed' as sealed from pgboss.job where name = 'send_mail'`.execute(tx);
  const theirs = rows.filter(
    ({ sealed }) => mailRecipient(sealer, sealed)?.toLowerCase() === email.toLowerCase(),
  );
  await sql`
    delete from pgboss.job where name = 'send_mail' and id = any(${theirs.map(({ id }) => id)}::uuid[])`.execute(
    tx,
  );
}
