import { sql } from "kysely";
import { foldCase } from "../../../shared/fold-case.ts";
import type { Tx } from "../../platform/db/database.ts";
import { type ChainEntry, chainColumns, detailsCommitment, whoCommitment } from "./chain.ts";
import { chainLock } from "./seal.ts";

/** Entries read and changed at a time. */
const batch = 1000;

/** A LIKE pattern for JSON that contains a text. */
function containing(text: string): string {
  return `%${JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\\%_]/g, "\\$&")}%`;
}

/**
 * Erases a person's data from the audit log of a workspace: email, IP addresses and user agents of their actions, and the
 * details of entries that contain their email or concern their account or name. Actions, times and ids stay. The chain
 * still verifies, and since the salts are erased too, the hashes don't reveal the values.
 * @returns how many entries were changed.
 */
export async function eraseFromAudit(
  tx: Tx,
  person: {
    readonly workspaceId: string;
    readonly email: string;
    /** Their account, when it no longer has the email. */
    readonly userId?: string | null;
    /** Names of their account. */
    readonly names?: readonly string[];
  },
): Promise<number> {
  const { userId = null, names = [] } = person;
  const email = foldCase(person.email.trim());
  const named = containing(email);
  const called = names.map((name) => containing(foldCase(name)));
  // Blocks sealing, which updates the same rows in another order.
  await sql`select pg_advisory_xact_lock(${chainLock})`.execute(tx);
  let [after, changed] = ["0", 0];
  for (;;) {
    const { rows } = await sql<ChainEntry & { is_theirs: boolean; is_named: boolean }>`
      select * from (
        select ${sql.raw(chainColumns)},
          who_salt is not null and (user_email = ${email} or user_id = ${userId}::uuid or user_id in (
              select u.id from users u where u.workspace_id = l.workspace_id and u.email_key = ${email})
            or (user_id is null and subject_type = 'user' and subject_id = ${userId}::text)) as is_theirs,
          details_salt is not null and (parley_lower(details::text) like ${named}
            or (subject_id = ${userId}::text and details ?| array['name', 'email'])
            or (user_id = ${userId}::uuid and parley_lower(details::text) like any(${called}::text[]))) as is_named
        from audit_log l where workspace_id = ${person.workspaceId} and id > ${after}
      ) found where is_theirs or is_named order by id limit ${batch}`.execute(tx);
    for (const row of rows) {
      await tx
        .updateTable("audit_log")
        .where("id", "=", row.id)
        .set({
          ...(row.is_theirs
            ? { who_hash: whoCommitment(row), who_salt: null, user_email: null, ip: null, user_agent: null }
            : {}),
          ...(row.is_named
            ? { details_hash: detailsCommitment(row), details_salt: null, details: "{}" }
            : {}),
        })
        .execute();
      after = row.id;
      changed += 1;
    }
    if (rows.length < batch) return changed;
  }
}
