import { sql } from "kysely";
import type { Config } from "../../../platform/config/config.ts";
import type { UploadRow } from "../queries.ts";

/** How long sweeps wait for an inactive upload. */
export type SweepTimeouts = Pick<Config, "uploadExpiryGraceMs" | "staleUploadTtlMs">;

/**
 * A recording made in the browser that was begun waits this long for the rest, which may only be in that browser: its
 * user may come back late. Then it is made of what has arrived.
 */
const recordingGraceMs = 30 * 86_400_000;

/** How long an upload waits for a sign of its sender after its URL's expiry. */
export function graceMsOf(
  isRecording: boolean,
  { uploadExpiryGraceMs }: Pick<SweepTimeouts, "uploadExpiryGraceMs">,
): number {
  return isRecording ? Math.max(recordingGraceMs, uploadExpiryGraceMs) : uploadExpiryGraceMs;
}

/** Whether an upload is a recording made in the browser of which a part may have arrived. */
export function isBegunRecording({
  active_at,
  import_data,
}: Pick<UploadRow, "active_at" | "import_data">): boolean {
  return active_at !== null && import_data?.source === "local_capture";
}

/** The same in a statement about uploads. */
export const begunRecording = sql<boolean>`(active_at is not null and import_data ->> 'source' is not distinct from 'local_capture')`;

const minIntervalMs = 200;
const maxIntervalMs = 60_000;

/**
 * How often to record that a long transfer is active: several times within the shortest timeout of the sweeps, which
 * then leave the upload alone, and at least every minute.
 */
export function activityIntervalMs({ uploadExpiryGraceMs, staleUploadTtlMs }: SweepTimeouts): number {
  const shortestTimeoutMs = Math.min(uploadExpiryGraceMs, staleUploadTtlMs);
  return Math.max(minIntervalMs, Math.min(maxIntervalMs, Math.floor(shortestTimeoutMs / 4)));
}
