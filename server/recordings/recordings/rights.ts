import { because } from "../../../contract/causes/causes.ts";
import { refusal } from "../../platform/auth/permissions.ts";
import { type Principal, type Role, roles } from "../../platform/auth/principal.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type ChangeableRecording, findChangeable, lockRecording } from "./queries.ts";

type Caller = Pick<Principal, "role" | "scope" | "tokenType">;
type Holder = "recorder" | "admin" | "workspace_token";

/** Who may do what to a recording that they can see; viewers may do none of it. */
const holders = {
  /** Its data, its transcript, and what is made from it. */
  change: ["recorder", "admin", "workspace_token"],
  /** Who else can see it, by shares and by public links. */
  share: ["recorder", "admin", "workspace_token"],
  /** Also restoring it from the trash, and deleting it there. */
  delete: ["recorder", "admin", "workspace_token"],
} as const satisfies Readonly<Record<string, readonly Holder[]>>;

export type Right = keyof typeof holders;
export const rights = Object.keys(holders) as Right[];

/** Whether a principal who can see a recording has a right on it. */
export function hasRight(
  caller: Caller,
  right: Right,
  recording: { readonly is_recorder: boolean },
): boolean {
  if (refusal("write", caller) !== null) return false;
  const is: Readonly<Record<Holder, boolean>> = {
    recorder: recording.is_recorder,
    admin: caller.role === "admin",
    workspace_token: caller.scope === "workspace",
  };
  return holders[right].some((holder) => is[holder]);
}

/** SQL condition: the user is a recorder of the recording. @param ids SQL of both ids. */
export function isRecorder(ids: { readonly recording: string; readonly user: string }): string {
  return `exists (select 1 from recording_recorders rr
    where rr.recording_id = ${ids.recording} and rr.user_id = ${ids.user}::uuid)`;
}

/**
 * `hasRight` as an SQL condition for many recordings: it is asked for both kinds of recordings before.
 * @param bind adds two values and returns their placeholders.
 */
export function rightInSql(
  caller: Caller,
  right: Right,
  { bind, isRecorder: condition }: { readonly bind: (value: boolean) => string; readonly isRecorder: string },
): string {
  const other = bind(hasRight(caller, right, { is_recorder: false }));
  const own = bind(hasRight(caller, right, { is_recorder: true }));
  return `(${other}::boolean or ${own}::boolean and ${condition})`;
}

/** The roles in which users who are recorders, or aren't, have a right on a recording that they can see. */
export function rolesWithRight(right: Right, recording: { readonly is_recorder: boolean }): Role[] {
  return roles.filter((role) =>
    hasRight({ role, scope: "personal", tokenType: "session" }, right, recording),
  );
}

/** The error for a caller who must not learn whether the recording exists. */
export function recordingNotFound(recordingId: string): ProblemError {
  return new ProblemError("not_found", `there is no recording ${recordingId} that this token can see`);
}

/** The error for a caller who lacks a right. @param action completes "only … may". @param others who may too. */
export function rightMissing(
  right: Right,
  action = `${right} it`,
  others: readonly string[] = [],
): ProblemError {
  return new ProblemError("forbidden", because("right_missing", { holders: holders[right], others, action }));
}

/**
 * Refuses principals who lack a right on a recording, for reads that only such changes need.
 * @param action completes "only … may" in the error.
 * @throws ProblemError as `lockFor`.
 */
export async function checkRight(
  db: Executor,
  principal: Principal,
  recordingId: string,
  right: Right,
  action?: string,
): Promise<void> {
  requireRight(await findChangeable(db, principal, recordingId), principal, recordingId, right, action);
}

/**
 * Locks a recording for a change by this principal.
 * @param action completes "only … may" in the error.
 * @throws ProblemError `not_found` when the principal can't see it, `forbidden` when they can but lack the right.
 */
export async function lockFor(
  tx: Tx,
  principal: Principal,
  recordingId: string,
  right: Right,
  action?: string,
): Promise<ChangeableRecording> {
  return requireRight(await lockRecording(tx, principal, recordingId), principal, recordingId, right, action);
}

export function requireRight(
  recording: ChangeableRecording | undefined,
  principal: Principal,
  recordingId: string,
  right: Right,
  action?: string,
): ChangeableRecording {
  if (recording === undefined || !recording.is_visible) throw recordingNotFound(recordingId);
  if (!hasRight(principal, right, recording)) throw rightMissing(right, action);
  return recording;
}
