import { type Selectable, sql } from "kysely";
import { because } from "../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Executor, Tx } from "../../platform/db/database.ts";
import type { LegalHolds } from "../../platform/db/types.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";

/**
 * A legal hold with its recording; title and time are null for a caller who can't see the recording, and could not when it
 * was deleted.
 */
export type HoldRow = Selectable<LegalHolds> & {
  readonly title: string | null;
  readonly start_datetime: Date | null;
  /** When it would be deleted without the hold; null: it is not in the trash. */
  readonly purge_at: Date | null;
};

/** The legal holds of a workspace, newest first, or the hold on one recording. */
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
            where g.recording_id = r.id and g.principal_id = any(${sees}::uuid[]))
          or exists (
            select 1 from trashed_recordings t
            where t.recording_id = r.id and t.principals && ${sees}::uuid[])`,
      ),
    )
    .selectAll("h")
    .select([
      "r.title",
      "r.start_datetime",
      sql<Date | null>`(
        select t.trashed_at + make_interval(days => w.trash_days)
        from trashed_recordings t join workspaces w on w.id = t.workspace_id
        where t.recording_id = h.recording_id)`.as("purge_at"),
    ])
    .where("h.workspace_id", "=", workspaceId)
    .$if(recordingId !== undefined, (query) => query.where("h.recording_id", "=", recordingId ?? ""))
    .orderBy("h.placed_at", "desc")
    .orderBy("h.recording_id")
    .execute();
}

/** Protects a recording from deletion; an existing hold gets the new reason. */
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
    if (released === undefined) throw new ProblemError("not_found", because("not_on_hold"));
    await auditHold(tx, actor, recordingId, "released");
    return { success: true };
  });
}

/** Locks a recording of the workspace against deletion. Admins can place holds on recordings they can't see. */
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
