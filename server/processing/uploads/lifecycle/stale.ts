import { sql } from "kysely";
import type { Config } from "../../../platform/config/config.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { begunRecording } from "./activity.ts";

/**
 * Deletes uploads that are no longer needed. A succeeded upload is deleted with its recording; if it has none, it is
 * deleted here.
 *
 * Contract, rule 5: "Stale uploads that never reached success are deleted periodically." The time counts from the
 * upload's last change or deadline: a URL or a staged file that is valid for longer keeps its upload. What has arrived of
 * a recording made in the browser is finished first (`failExpiredUploads`). A thousand at a time, so that a backlog of
 * any size shrinks.
 * @returns how many were deleted.
 */
export async function deleteStaleUploads(
  db: Executor,
  { staleUploadTtlMs, uploadExpiryGraceMs }: Pick<Config, "staleUploadTtlMs" | "uploadExpiryGraceMs">,
): Promise<number> {
  const { rows } = await sql`
    delete from uploads where id = any(array(
      select id from uploads
      where status in ('initial', 'awaiting', 'staged', 'failure')
        and updated_at < now() - ${staleUploadTtlMs} * interval '1 millisecond'
        and not (status = 'awaiting' and ${begunRecording})
        and greatest(active_at, put_active_at, media_expires_at,
          url_expires_at + ${uploadExpiryGraceMs} * interval '1 millisecond', updated_at)
          < now() - ${staleUploadTtlMs} * interval '1 millisecond'
      order by updated_at limit 1000 for update skip locked))
    or id = any(array(
      select id from uploads
      where status = 'success' and recording_id is null
        and updated_at < now() - ${staleUploadTtlMs} * interval '1 millisecond'
      order by updated_at limit 1000 for update skip locked))
    returning id`.execute(db);
  return rows.length;
}

export const deleteStaleUploadsKind = defineRecurringJob({
  name: "delete_stale_uploads",
  label: (i18n) => i18n.t("Delete stale uploads"),
  every: "sweep",
  guard: "age",
  async handler({ db, config, log }) {
    const count = await deleteStaleUploads(db.kysely, config);
    if (count > 0) log.info({ count }, "deleted stale uploads");
  },
});
