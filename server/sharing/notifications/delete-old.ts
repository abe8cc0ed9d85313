import { sql } from "kysely";
import { notificationDays } from "../../../contract/workspace/notification-kinds.ts";
import type { Executor } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";

/** Rows that one statement deletes, so that it takes no locks for long. */
const batch = 10_000;

/** Deletes notifications of which nobody needs to know any more. */
export async function deleteOldNotifications(db: Executor): Promise<void> {
  for (;;) {
    const { numAffectedRows } = await sql`
      delete from notifications where id in (
        select id from notifications where created_at < now() - ${notificationDays} * interval '1 day'
        limit ${batch})`.execute(db);
    if ((numAffectedRows ?? 0n) < batch) return;
  }
}

export const deleteOldNotificationsKind = defineRecurringJob({
  name: "delete_old_notifications",
  label: (i18n) => i18n.t("Delete old notifications"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldNotifications(db.kysely),
});
