import { randomUUIDv7 } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { sql } from "kysely";
import { serverItself } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import { type RemovedRows, removeFiles, removeRecording } from "../recordings/delete.ts";
import { isHeld } from "../recordings/delete-queries.ts";
import type { ObjectStore } from "../storage/store.ts";
import { eachAlone } from "../uploads/each-alone.ts";
import { findMatches, fits } from "./matching.ts";
import type { RuleRow } from "./rules.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly log: FastifyBaseLogger;
}

/** As many are looked up at once; each is deleted in a transaction of its own. */
const batch = 100;

/** Other tasks want their turn: what is left is deleted at the next interval. */
const mostAtOnce = 2000;

/** Deletes what the rules say. Safe in several processes: who comes second finds the recording gone. */
export async function applyRetention(deps: Dependencies): Promise<void> {
  const rules = await deps.db.kysely
    .selectFrom("retention_rules")
    .selectAll()
    .where("is_enabled", "=", true)
    .where("acts_from", "<=", sql<Date>`now()`)
    .orderBy("created_at")
    .execute();
  let left = mostAtOnce;
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
      // None of them could be deleted: somebody else was faster, or the rule has gone.
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
  await eachAlone(deps.log, "deleting recordings by a retention rule", recordingIds, async (recordingId) => {
    if (await deleteOne(deps, rule.id, recordingId)) deleted += 1;
  });
  return deleted;
}

/**
 * Deletes a recording if the rule, as it is now, says so, and keeps the receipt with it. The recording is locked before
 * the rule, as where a team is removed with its rules.
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
    // A statement of its own, which sees what was changed while we waited for the lock.
    const { rows } = await sql<{ fits: boolean }>`
      select ${fits(rule)} as fits from recordings r
      where r.id = ${recordingId} and r.workspace_id = ${rule.workspace_id}`.execute(tx);
    if (rows[0]?.fits !== true || (await isHeld(tx, recordingId))) return null;
    const removed = await removeRecording(tx, serverItself(rule.workspace_id), recordingId);
    const { uploadIds, ...counts } = removed;
    // Before the files are gone: a process that dies in between leaves a receipt that says so.
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
  const receipt = await removeFiles({ store, onError }, recordingId, removed);
  await db.kysely
    .updateTable("retention_receipts")
    .set({ receipt: JSON.stringify(receipt) })
    .where("id", "=", receiptId)
    .execute();
  return true;
}

/** The rule as it is, if it acts; it stays so until the transaction ends. */
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
