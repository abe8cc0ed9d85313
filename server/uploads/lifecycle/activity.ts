import type { Config } from "../../platform/config/config.ts";

/** How long sweeps wait for an inactive upload. */
export type SweepTimeouts = Pick<Config, "uploadExpiryGraceMs" | "staleUploadTtlMs">;

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
