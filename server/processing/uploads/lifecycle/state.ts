import type { UploadStatus } from "../../../../contract/uploads/uploads.ts";

/**
 * The life of an upload, as the contract's table "Upload (2026-10-01)" has it.
 *
 * initial     just created; moves on in the same transaction
 * awaiting    a media upload whose file has not arrived
 * processing  the file is here and being checked
 * staged      complete and checked; waits for promotion, or for edits when auto_promote is false
 * promoting   a job is making the recording
 * success     the recording exists
 * failure     failed, with a reason
 */

/** The events in an upload's life. */
export const uploadEvents = [
  "transcript_accepted",
  "file_requested",
  "file_received",
  "url_expired",
  "file_validated",
  "processing_failed",
  "promotion_begun",
  "promotion_requested",
  "media_expired",
  "promotion_completed",
  "promotion_failed",
  "access_ended",
  "job_discarded",
] as const;
export type UploadEvent = (typeof uploadEvents)[number];

/** The properties of an upload that decide its transitions. */
export interface UploadState {
  readonly status: UploadStatus;
  readonly mediaType: "audio" | "video" | "transcript";
  readonly autoPromote: boolean;
}

interface Transition {
  readonly from: UploadStatus;
  readonly event: UploadEvent;
  readonly to: UploadStatus;
  readonly when?: (state: UploadState) => boolean;
}

const isTranscript = (state: UploadState): boolean => state.mediaType === "transcript";
const isMedia = (state: UploadState): boolean => state.mediaType !== "transcript";
const promotesItself = (state: UploadState): boolean => state.autoPromote;
const waitsForPromotion = (state: UploadState): boolean => !state.autoPromote;

/** The contract's table line by line, plus the transitions that the design adds. */
const transitions: readonly Transition[] = [
  { from: "initial", event: "transcript_accepted", to: "staged", when: isTranscript },
  { from: "initial", event: "file_requested", to: "awaiting", when: isMedia },
  { from: "awaiting", event: "file_received", to: "processing" },
  { from: "awaiting", event: "url_expired", to: "failure" },
  { from: "processing", event: "file_validated", to: "staged" },
  { from: "processing", event: "processing_failed", to: "failure" },
  { from: "staged", event: "promotion_begun", to: "promoting", when: promotesItself },
  { from: "staged", event: "promotion_requested", to: "promoting", when: waitsForPromotion },
  { from: "staged", event: "media_expired", to: "failure", when: isMedia },
  { from: "promoting", event: "promotion_completed", to: "success" },
  { from: "promoting", event: "promotion_failed", to: "failure" },
  // Beyond the contract: the user who created the upload was deactivated (decision 20).
  { from: "awaiting", event: "access_ended", to: "failure" },
  { from: "processing", event: "access_ended", to: "failure" },
  { from: "staged", event: "access_ended", to: "failure" },
  { from: "promoting", event: "access_ended", to: "failure" },
  // Beyond the contract: an admin discarded the failing job on the System page.
  { from: "awaiting", event: "job_discarded", to: "failure" },
  { from: "processing", event: "job_discarded", to: "failure" },
  { from: "promoting", event: "job_discarded", to: "failure" },
];

/** The status after an event; null when the event is not allowed in this state. */
export function nextStatus(state: UploadState, event: UploadEvent): UploadStatus | null {
  const transition = transitions.find(
    (line) => line.from === state.status && line.event === event && (line.when?.(state) ?? true),
  );
  return transition?.to ?? null;
}

/** The automatic event of a state: the contract's "automatic" lines. */
export function automaticEvent(state: UploadState): UploadEvent | null {
  if (state.status === "initial") return isTranscript(state) ? "transcript_accepted" : "file_requested";
  if (state.status === "staged" && promotesItself(state)) return "promotion_begun";
  return null;
}

/** Contract, rule 4: "Update Upload is accepted for status awaiting, or for status staged with auto_promote false." */
export function canUpdate(state: UploadState): boolean {
  return state.status === "awaiting" || (state.status === "staged" && waitsForPromotion(state));
}

/** Contract: "Promote Upload is valid only for staged with auto_promote false." */
export function canPromote(state: UploadState): boolean {
  return nextStatus(state, "promotion_requested") !== null;
}
