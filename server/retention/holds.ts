import { type Selectable, sql } from "kysely";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database, Executor, Tx } from "../db/database.ts";
import type { LegalHolds } from "../db/types.ts";
import { ProblemError } from "../http/problem.ts";

/** A hold, and what it is on; null for who can't see it. */
export type HoldRow = Selectable<LegalHolds> & {
  readonly title: string | null;
  readonly start_datetime: Date | null;
};

/** The holds of a workspace, the last placed first; or the one on a recording. */
export function findHolds(
  db: Executor,
  { workspaceId, sees }: Principal,
  recordingId?: string,
): Promise<HoldRow[]> {
  return db
    .selectFrom("legal_holds as h")
    .leftJoin("recordings as r", (join) =>
      join.onRef("r.id", "=", "h.recording_id").on(
        sql<boolean>`exists (
            select 1 from recording_grants g
            where g.recording_id = r.id and g.principal_id = any(${sees}::uuid[]))`,
      ),
    )
    .selectAll("h")
    .select(["r.title", "r.start_datetime"])
    .where("h.workspace_id", "=", workspaceId)
    .$if(recordingId !== undefined, (query) => query.where("h.recording_id", "=", recordingId ?? ""))
    .orderBy("h.placed_at", "desc")
    .orderBy("h.recording_id")
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
    await tx
      .insertInto("legal_holds")
      .values({
        recording_id: recordingId,
        workspace_id: principal.workspaceId,
        reason,
        placed_by: principal.userId,
      })
      .onConflict((conflict) => conflict.column("recording_id").doUpdateSet({ reason }))
      .execute();
    await auditHold(tx, actor, recordingId, "placed");
    const [row] = await findHolds(tx, principal, recordingId);
    if (row === undefined) throw new Error(`the hold on ${recordingId} was just placed`);
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
