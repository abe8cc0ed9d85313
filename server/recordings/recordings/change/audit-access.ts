import { sql } from "kysely";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";

/** The fields of a recording that decide who can see it. */
export interface Access {
  readonly share_state: string;
  readonly team_ids: readonly string[];
  readonly recorder_ids: readonly string[];
}

export async function readAccess(tx: Tx, recordingId: string): Promise<Access> {
  const { rows } = await sql<Access>`
    select r.share_state,
      array(select team_id from recording_teams t where t.recording_id = r.id) as team_ids,
      array(select user_id from recording_recorders c where c.recording_id = r.id) as recorder_ids
    from recordings r where r.id = ${recordingId}`.execute(tx);
  const [row] = rows;
  if (row === undefined) throw new Error("the caller holds a lock on the recording");
  return row;
}

/** Records in the audit log what changed about who can see the recording. */
export async function auditAccess(
  tx: Tx,
  actor: AuditActor,
  recordingId: string,
  before: Access,
  after: Access,
): Promise<void> {
  const subject = { type: "recording", id: recordingId };
  if (before.share_state !== after.share_state)
    await recordAudit(tx, actor, {
      action: "recording_share_state_changed",
      subject,
      details: { from: before.share_state, to: after.share_state },
    });
  for (const [name, key] of [
    ["team_id", "team_ids"],
    ["recorder_id", "recorder_ids"],
  ] as const) {
    for (const id of after[key].filter((one) => !before[key].includes(one)))
      await recordAudit(tx, actor, { action: "recording_shared", subject, details: { [name]: id } });
    for (const id of before[key].filter((one) => !after[key].includes(one)))
      await recordAudit(tx, actor, { action: "recording_unshared", subject, details: { [name]: id } });
  }
}
