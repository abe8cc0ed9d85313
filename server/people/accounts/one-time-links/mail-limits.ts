import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import { foldCase } from "../../../../shared/fold-case.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { keyOf } from "../sign-in/throttle.ts";

/** How many emails of each kind one recipient is sent in a day. */
const perRecipient = {
  invitation: 5,
  password_reset: 20,
  account_change: 20,
  new_device: 20,
  delivery_disabled: 20,
  delivery: 200,
  notification: 100,
} as const;

export type MailKind = keyof typeof perRecipient;

/** How many emails a workspace sends in a day, of all kinds together. */
const perWorkspace = 1000;

/**
 * Counts an email in the transaction that queues it.
 * @param workspaceId null: the installation itself sends it.
 * @returns the error to refuse it with if the recipient or the workspace has reached the limit of this day; otherwise null.
 */
export async function takeMail(
  tx: Tx,
  {
    kind,
    workspaceId,
    to,
  }: { readonly kind: MailKind; readonly workspaceId: string | null; readonly to: string },
): Promise<ProblemError | null> {
  const recipient = keyOf("recipient", kind, foldCase(to.trim()));
  // The workspace first, so that transactions that count several recipients wait for each other here.
  const keys = [...(workspaceId === null ? [] : [keyOf("workspace", workspaceId)]), recipient];
  const { rows } = await sql<{ key: Buffer; count: number; wait_sec: number }>`
    insert into mail_counts (key, day, count)
    select key, (now() at time zone 'utc')::date, 1
    from unnest(${keys}::bytea[]) with ordinality as keys (key, place) order by place
    on conflict (key) do update set day = excluded.day,
      count = case when mail_counts.day = excluded.day then mail_counts.count + 1 else 1 end
    returning key, count, ceil(extract(epoch from
      date_trunc('day', now() at time zone 'utc') + interval '1 day' - (now() at time zone 'utc')))::integer as wait_sec`.execute(
    tx,
  );
  for (const { key, count, wait_sec } of rows) {
    const isRecipient = key.equals(recipient);
    if (count <= (isRecipient ? perRecipient[kind] : perWorkspace)) continue;
    return new ProblemError(
      "rate_limited",
      isRecipient
        ? because("emails_to_recipient", { limit: perRecipient[kind] })
        : because("emails_of_workspace", { limit: perWorkspace }),
      { headers: { "retry-after": String(wait_sec) } },
    );
  }
  return null;
}

/** Removes the counts of past days. Skips those in use: waiting for one while holding others could be a deadlock. */
export async function deleteOldMailCounts(db: Database["kysely"]): Promise<void> {
  await sql`
    delete from mail_counts where key in (
      select key from mail_counts where day < (now() at time zone 'utc')::date for update skip locked)`.execute(
    db,
  );
}
export const deleteOldMailCountsKind = defineRecurringJob({
  name: "delete_old_mail_counts",
  label: (i18n) => i18n.t("Delete old mail counts"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldMailCounts(db.kysely),
});
