import type { Selectable } from "kysely";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import type { LegalHolds } from "../db/types.ts";
import { ProblemError } from "../http/problem.ts";

type HoldRow = Selectable<LegalHolds>;

export function findHolds(db: Database, workspaceId: string): Promise<HoldRow[]> {
  return db.kysely
    .selectFrom("legal_holds")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("placed_at", "desc")
    .orderBy("recording_id")
    .execute();
}

/** Keeps a recording from being deleted; a hold that is there gets another reason. */
export async function placeHold(
  db: Database,
  principal: Principal,
  actor: AuditActor,
  recordingId: string,
  reason: string,
): Promise<HoldRow> {
  return db.kysely.transaction().execute(async (tx) => {
    await lockInWorkspace(tx, principal, recordingId);
    const row = await tx
      .insertInto("legal_holds")
      .values({
        recording_id: recordingId,
        workspace_id: principal.workspaceId,
        reason,
        placed_by: principal.userId,
      })
      .onConflict((conflict) => conflict.column("recording_id").doUpdateSet({ reason }))
      .returningAll()
      .executeTakeFirstOrThrow();
    await auditHold(tx, actor, recordingId, "placed");
    return row;
  });
}

export async function releaseHold(
  db: Database,
  principal: Principal,
  actor: AuditActor,
  recordingId: string,
): Promise<{ success: true }> {
  return db.kysely.transaction().execute(async (tx) => {
    await lockInWorkspace(tx, principal, recordingId);
    const released = await tx
      .deleteFrom("legal_holds")
      .where("recording_id", "=", recordingId)
      .returning("recording_id")
      .executeTakeFirst();
    if (released === undefined) throw new ProblemError("not_found", "the recording is not under legal hold");
    await auditHold(tx, actor, recordingId, "released");
    return { success: true };
  });
}

/** Admins keep what they can't see, too; the recording is locked, so that it is not deleted at the same time. */
async function lockInWorkspace(tx: Tx, principal: Principal, recordingId: string): Promise<void> {
  const row = await tx
    .selectFrom("recordings")
    .select("id")
    .where("id", "=", recordingId)
    .where("workspace_id", "=", principal.workspaceId)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined)
    throw new ProblemError("not_found", `there is no recording ${recordingId} in this workspace`);
}

function auditHold(
  tx: Tx,
  actor: AuditActor,
  recordingId: string,
  hold: "placed" | "released",
): Promise<void> {
  return recordAudit(tx, actor, {
    action: hold === "placed" ? "legal_hold_placed" : "legal_hold_released",
    subject: { type: "recording", id: recordingId },
  });
}
