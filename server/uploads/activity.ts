import type { Config } from "../config.ts";

/** The times after which sweeps end an upload that nobody has been heard of. */
export type PatienceSettings = Pick<Config, "uploadExpiryGraceMs" | "staleUploadTtlMs">;

const mostOftenMs = 200;
const seldomMs = 60_000;

/**
 * How often somebody who sends for long says so: several times within the patience of the sweeps, which then leave the
 * upload alone, and at least every minute.
 */
export function noteEveryMs({ uploadExpiryGraceMs, staleUploadTtlMs }: PatienceSettings): number {
  const patience = Math.min(uploadExpiryGraceMs, staleUploadTtlMs);
  return Math.max(mostOftenMs, Math.min(seldomMs, Math.floor(patience / 4)));
}
