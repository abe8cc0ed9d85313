import { randomUUIDv7 } from "node:crypto";
import type { Config } from "../../../platform/config/config.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { findPlanMaxDurationSec } from "../media-queries.ts";
import type { NewUpload } from "../queries.ts";

/** The settings that limit files and the lifetime of their URLs. */
export type FileSettings = Pick<Config, "uploadUrlTtlMs" | "maxDurationMs" | "maxUploadBytes">;

/** How soon after its creation to check for an upload's file. */
const firstCheckMs = 2000;

/**
 * The limits of a new upload's file, fixed at its creation so that a later change of plan or settings does not affect
 * transfers in progress, and the id of its future recording.
 */
export async function planFile(
  tx: Tx,
  settings: FileSettings,
  workspaceId: string,
): Promise<NonNullable<NewUpload["file"]>> {
  const now = Date.now();
  return {
    url_expires_at: new Date(now + settings.uploadUrlTtlMs),
    max_duration_sec:
      (await findPlanMaxDurationSec(tx, workspaceId)) ?? Math.floor(settings.maxDurationMs / 1000),
    max_upload_bytes: settings.maxUploadBytes,
    planned_recording_id: randomUUIDv7(),
    next_check_at: new Date(now + firstCheckMs),
  };
}
