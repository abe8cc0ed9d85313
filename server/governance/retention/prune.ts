import type pg from "pg";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { pruneAudit } from "../audit/prune.ts";

/** Rows removed by one statement. */
const batch = 5000;

/** Removes old receipts of retention rules and of completed erasures. */
async function pruneReceipts(pool: pg.Pool, before: Date): Promise<void> {
  for (const statement of [
    `delete from retention_receipts where id = any(array(
       select id from retention_receipts where deleted_at < $1 limit ${batch}))`,
    `delete from erasures where id = any(array(
       select id from erasures where state = 'done' and finished_at < $1 limit ${batch}))`,
  ]) {
    while ((await pool.query(statement, [before])).rowCount === batch);
  }
}

export const pruneAuditLogKind = defineRecurringJob({
  name: "prune_audit_log",
  label: (i18n) => i18n.t("Prune audit log"),
  every: "sweep",
  guard: "age",
  isEnabled: ({ auditTtlMs }) => auditTtlMs !== null,
  async handler({ db, store, log, config: { auditTtlMs } }) {
    if (auditTtlMs === null) return;
    const count = await pruneAudit(db, store, auditTtlMs);
    await pruneReceipts(db.pool, new Date(Date.now() - auditTtlMs));
    if (count > 0) log.info({ count }, "removed old entries of the audit log");
  },
});
