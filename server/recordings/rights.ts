import type { Principal } from "../access/principal.ts";
import type { Tx } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type ChangeableRecording, lockRecording } from "./queries.ts";

/** What a caller reads who may not know whether the recording exists. */
export function recordingNotFound(recordingId: string): ProblemError {
  return new ProblemError("not_found", `there is no recording ${recordingId} that this token can see`);
}

/** Title, tags and sharing are changed, and the whole is deleted, by the recording's recorders, admins and workspace tokens. */
export function mayChange(principal: Principal, recording: { readonly is_recorder: boolean }): boolean {
  return principal.scope === "workspace" || principal.role === "admin" || recording.is_recorder;
}

/**
 * Locks a recording for a change by this principal.
 * @param what is to be done, for the words of a refusal.
 * @throws ProblemError `not_found` when the principal can't see it, `forbidden` when they see but may not change it.
 */
export async function lockForChange(
  tx: Tx,
  principal: Principal,
  recordingId: string,
  what = "change its title, tags and sharing",
): Promise<ChangeableRecording> {
  const recording = await lockRecording(tx, principal, recordingId);
  if (recording === undefined || !recording.is_visible) throw recordingNotFound(recordingId);
  if (!mayChange(principal, recording)) {
    throw new ProblemError(
      "forbidden",
      `only the recording's recorders, admins and workspace tokens may ${what}`,
    );
  }
  return recording;
}
