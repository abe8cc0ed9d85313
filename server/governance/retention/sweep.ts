import { randomUUIDv7 } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { serverItself } from "../../platform/audit/record.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { forEachIsolated } from "../../platform/jobs/for-each-isolated.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { type RemovedRows, removeFiles, removeRecording } from "../../recordings/recordings/delete/delete.ts";
import { isHeld } from "../../recordings/recordings/delete/queries.ts";
import { findMatches, matches } from "./matching.ts";
import type { RuleRow } from "./rules.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly log: FastifyBaseLogger;
}

/** How many matching recordings are read at a time; each is deleted in its own transaction. */
const batch = 100;

/** How many recordings one run deletes, so that other sweeps get their turn; the rest follows in the next run. */
const maxPerRun = 2000;

/** Deletes the recordings that match a rule. Safe in several processes: the second one finds the recording gone. */
export async function applyRetention(deps: Dependencies): Promise<void> {
  const rules = await deps.db.kysely
    .selectFrom("retention_rules")
    .selectAll()
    .where("is_enabled", "=", true)
    .where("acts_from", "<=", sql<Date>`now()`)
    .orderBy("created_at")
    .execute();
  let left = maxPerRun;
  for (const rule of rules as RuleRow[]) {
    const before = left;
    while (left > 0) {
      const found = await findMatches(deps.db.kysely, rule.workspace_id, rule, Math.min(batch, left));
      const deleted = await deleteAll(
        deps,
        rule,
        found.map(({ id }) => id),
      );
      left -= deleted;
      // None could be deleted: another process was faster, or the rule was deleted.
      if (deleted === 0) break;
    }
    if (before > left)
      deps.log.info({ rule: rule.id, count: before - left }, "deleted recordings by a retention rule");
  }
}

async function deleteAll(
  deps: Dependencies,
  rule: RuleRow,
  recordingIds: readonly string[],
): Promise<number> {
  let deleted = 0;
  await forEachIsolated(
    deps.log,
    "deleting recordings by a retention rule",
    recordingIds,
    async (recordingId) => {
      if (await deleteOne(deps, rule.id, recordingId)) deleted += 1;
    },
  );
  return deleted;
}

/**
 * Deletes a recording if it still matches the current rule, and writes the receipt in the same transaction. The recording is
 * locked before the rule, in the same order as deleting a team does.
 */
async function deleteOne(
  { db, store, log }: Dependencies,
  ruleId: string,
  recordingId: string,
): Promise<boolean> {
  const receiptId = randomUUIDv7();
  const removed = await db.kysely.transaction().execute(async (tx): Promise<RemovedRows | null> => {
    const locked = await tx
      .selectFrom("recordings")
      .select("id")
      .where("id", "=", recordingId)
      .forUpdate()
      .executeTakeFirst();
    const rule = await lockActive(tx, ruleId);
    if (locked === undefined || rule === undefined) return null;
    // A separate statement, which sees changes made while waiting for the lock.
    const { rows } = await sql<{ matches: boolean }>`
      select ${matches(rule)} as matches from recordings r
      where r.id = ${recordingId} and r.workspace_id = ${rule.workspace_id}`.execute(tx);
    if (rows[0]?.matches !== true || (await isHeld(tx, recordingId))) return null;
    const removed = await removeRecording(tx, serverItself(rule.workspace_id), recordingId);
    const { uploadIds, ...counts } = removed;
    // Before the files are removed: a process that is killed in between leaves a receipt that says so.
    await tx
      .insertInto("retention_receipts")
      .values({
        id: receiptId,
        workspace_id: rule.workspace_id,
        recording_id: recordingId,
        rule_id: rule.id,
        rule_name: rule.name,
        receipt: JSON.stringify({
          id: recordingId,
          deleted_datetime: new Date().toISOString(),
          removed: { ...counts, uploads: uploadIds.length, objects: 0 },
          is_complete: false,
        }),
      })
      .execute();
    return removed;
  });
  if (removed === null) return false;
  const onError = (error: unknown) =>
    log.warn(
      { err: error, recordingId },
      "could not remove the files of a deleted recording; the sweep will",
    );
  const receipt = await removeFiles({ db, store, onError }, recordingId, removed);
  await db.kysely
    .updateTable("retention_receipts")
    .set({ receipt: JSON.stringify(receipt) })
    .where("id", "=", receiptId)
    .execute();
  return true;
}

/** Locks a rule if it is active. */
async function lockActive(tx: Tx, ruleId: string): Promise<RuleRow | undefined> {
  const row = await tx
    .selectFrom("retention_rules")
    .selectAll()
    .where("id", "=", ruleId)
    .where("is_enabled", "=", true)
    .where("acts_from", "<=", sql<Date>`now()`)
    .forShare()
    .executeTakeFirst();
  return row as RuleRow | undefined;
}

export const applyRetentionRulesKind = defineRecurringJob({
  name: "apply_retention_rules",
  label: (i18n) => i18n.t("Apply retention rules"),
  every: "sweep",
  guard: "age",
  handler: (deps) => applyRetention(deps),
});
