import type { Principal } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type ChangeableRecording, findChangeable, lockRecording } from "./queries.ts";

/** The error for a caller who must not learn whether the recording exists. */
export function recordingNotFound(recordingId: string): ProblemError {
  return new ProblemError("not_found", `there is no recording ${recordingId} that this token can see`);
}

/** Whether a principal who can see a recording may change, share and delete it: recorders, admins and workspace tokens. */
export function mayChange(principal: Principal, recording: { readonly is_recorder: boolean }): boolean {
  return principal.scope === "workspace" || principal.role === "admin" || recording.is_recorder;
}

/**
 * Refuses principals who may not change a recording, for reads that only such changes need.
 * @param action completes "only … may" in the error.
 * @throws ProblemError as `lockForChange`.
 */
export async function checkMayChange(
  db: Executor,
  principal: Principal,
  recordingId: string,
  action: string,
): Promise<void> {
  checkRight(await findChangeable(db, principal, recordingId), principal, recordingId, action);
}

/**
 * Locks a recording for a change by this principal.
 * @param action completes "only … may" in the error.
 * @throws ProblemError `not_found` when the principal can't see it, `forbidden` when they can see but not change it.
 */
export async function lockForChange(
  tx: Tx,
  principal: Principal,
  recordingId: string,
  action = "change it",
): Promise<ChangeableRecording> {
  return checkRight(await lockRecording(tx, principal, recordingId), principal, recordingId, action);
}

function checkRight(
  recording: ChangeableRecording | undefined,
  principal: Principal,
  recordingId: string,
  action: string,
): ChangeableRecording {
  if (recording === undefined || !recording.is_visible) throw recordingNotFound(recordingId);
  if (!mayChange(principal, recording)) {
    throw new ProblemError(
      "forbidden",
      `only the recording's recorders, admins and workspace tokens may ${action}`,
    );
  }
  return recording;
}
