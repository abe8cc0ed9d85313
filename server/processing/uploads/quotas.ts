import { sql } from "kysely";
import { because, type Cause } from "../../../contract/causes/causes.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Executor, Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";
import { lockQuota } from "../../platform/db/quota-lock.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { enforceQuota } from "../../platform/http/limits/quota.ts";
import type { UploadRow } from "./queries.ts";

export type StorageQuota = Pick<Config, "storageBytesPerWorkspace">;

/** The settings that limit uploads. */
export type UploadQuotas = StorageQuota & Pick<Config, "openUploadsPerUser">;

/**
 * Refuses a new upload when the user has too many open ones, or when it has a file and the workspace's storage is full.
 * Call it in the transaction that creates the upload, before anything else.
 * @throws ProblemError `quota_exceeded`
 */
export async function checkUploadQuotas(
  tx: Tx,
  settings: UploadQuotas,
  principal: Pick<Principal, "userId" | "workspaceId">,
  hasFile: boolean,
): Promise<void> {
  await enforceQuota(tx, {
    name: "open_uploads",
    owner: principal.userId,
    limit: settings.openUploadsPerUser,
    count: () => countOpenUploads(tx, principal.userId),
    refusal: "open_upload_quota",
  });
  if (hasFile) await requireRoom(tx, settings, principal.workspaceId, null);
}

/**
 * Refuses a file when the workspace's storage is full. Reserves nothing.
 * @param bytes its size; null: unknown, then any room is enough.
 * @param exceptUploadId the file's own upload, whose reservation doesn't count.
 * @throws ProblemError `quota_exceeded`
 */
export async function requireRoom(
  db: Executor,
  { storageBytesPerWorkspace: quota }: StorageQuota,
  workspaceId: string,
  bytes: number | null,
  exceptUploadId: string | null = null,
): Promise<void> {
  if (quota === null) return;
  const used = await findUsedBytes(db, workspaceId, exceptUploadId);
  if (used + (bytes ?? 1) > quota) throw storageFull(quota, used, bytes);
}

/**
 * Open: the upload has neither become a recording nor failed. A transcript being promoted needs no client and no file,
 * so it doesn't count.
 */
async function countOpenUploads(db: Executor, userId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from uploads
    where created_by = ${userId} and ${isOpen} and not (status = 'promoting' and media_type = 'transcript') ${prepared}`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

const isOpen = sql<boolean>`status in ('initial', 'awaiting', 'processing', 'staged', 'promoting')`;

/**
 * Bytes that a workspace uses: the files of its recordings, and for each open upload its file or the space reserved for
 * it.
 */
export async function findUsedBytes(
  db: Executor,
  workspaceId: string,
  exceptUploadId: string | null = null,
): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (
      coalesce((select sum(bytes) from stored_files where workspace_id = ${workspaceId}), 0)
      + coalesce((select sum(reserved_bytes) from uploads
          where workspace_id = ${workspaceId} and reserved_bytes > 0 and ${isOpen}
            and id is distinct from ${exceptUploadId}::uuid), 0))::float8 as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/**
 * Reserves storage for an upload's file, replacing its earlier reservation. Without a quota the size is only recorded,
 * so that a quota set later counts it.
 * @param bytes size of the file; null: unknown, then as much as is free, at most `maxBytes`.
 * @param minBytes with an unknown size, what has arrived: the reservation never becomes smaller than that.
 * @returns the reserved bytes.
 * @throws ProblemError `quota_exceeded` when less than that, or nothing, is free.
 */
export async function reserveStorage(
  db: Database,
  settings: StorageQuota,
  upload: Pick<UploadRow, "id" | "workspace_id">,
  bytes: number | null,
  maxBytes: number,
  minBytes = 0,
): Promise<number> {
  const quota = settings.storageBytesPerWorkspace;
  return db.kysely.transaction().execute(async (tx) => {
    let kept = bytes ?? maxBytes;
    if (quota !== null) {
      await lockQuota(tx, "storage", upload.workspace_id);
      const used = await findUsedBytes(tx, upload.workspace_id, upload.id);
      if (bytes === null) kept = Math.max(minBytes, Math.min(maxBytes, quota - used));
      if (kept <= 0 ? bytes !== 0 : used + kept > quota) throw storageFull(quota, used, bytes);
    }
    await tx
      .updateTable("uploads")
      .set({ reserved_bytes: bytes === null && quota === null ? 0 : kept })
      .where("id", "=", upload.id)
      .where("status", "in", ["awaiting", "processing"])
      .execute();
    return kept;
  });
}

/** Releases the space reserved for a file that was not stored. */
export async function releaseStorage(db: Database, uploadId: string): Promise<void> {
  await db.kysely
    .updateTable("uploads")
    .set({ reserved_bytes: 0 })
    .where("id", "=", uploadId)
    .where("status", "=", "awaiting")
    .execute();
}

/**
 * Counts a file that has arrived with its actual size. A file with a reservation is accepted even if the quota was
 * lowered in the meantime; a file sent straight to the bucket, where nothing limits its size, may exceed the quota.
 * @returns why the upload fails; null when the file is accepted.
 */
export async function countArrivedFile(
  db: Database,
  settings: StorageQuota,
  upload: UploadRow,
  bytes: number,
): Promise<{ readonly sentence: string; readonly causes: readonly Cause[] } | null> {
  const hasReservation = Number(upload.reserved_bytes) >= bytes;
  try {
    await reserveStorage(
      db,
      hasReservation ? { storageBytesPerWorkspace: null } : settings,
      upload,
      bytes,
      bytes,
    );
    return null;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.code !== "quota_exceeded") throw error;
    const causes = error.cause === undefined ? [] : [error.cause];
    return { sentence: `The file was not kept: ${error.message}.`, causes };
  }
}

/** A file of unknown size that exceeds the free space. */
export function outOfRoom(room: number): ProblemError {
  return new ProblemError("quota_exceeded", because("storage_too_full_for_file", { bytes: room }));
}

/** @param needed bytes of the file that does not fit; null if unknown. */
function storageFull(quota: number, used: number, needed: number | null = null): ProblemError {
  return new ProblemError(
    "quota_exceeded",
    needed === null
      ? because("storage_full", { used: Math.round(used), quota })
      : because("storage_too_small", { used: Math.round(used), quota, needed }),
  );
}
