import { sql } from "kysely";
import { mailRecipient } from "../../accounts/one-time-links/mailer.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Tx } from "../../platform/db/database.ts";

/**
 * Removes jobs that contain a person's email: password reset requests, requests for access and emails to them, both waiting and finished ones,
 * which the queue keeps for an hour. A running job finds no account and ends.
 */
export async function eraseFromJobs(tx: Tx, encryptor: Encryptor, email: string): Promise<void> {
  await sql`
    delete from pgboss.job
    where name = 'request_access' and data -> 'actor' ->> 'userEmail' = lower(${email})`.execute(tx);
  await sql`
    delete from pgboss.job
    where name = 'request_password_reset' and lower(data ->> 'email') = lower(${email})`.execute(tx);
  const { rows } = await sql<{ id: string; encrypted: string }>`
    select id, data ->> 'encrypted' as encrypted from pgboss.job where name = 'send_mail'`.execute(tx);
  const theirs = rows.filter(
    ({ encrypted }) => mailRecipient(encryptor, encrypted)?.toLowerCase() === email.toLowerCase(),
  );
  await sql`
    delete from pgboss.job where name = 'send_mail' and id = any(${theirs.map(({ id }) => id)}::uuid[])`.execute(
    tx,
  );
}
