import type { Database } from "../../platform/db/database.ts";
import { defineJob } from "../../platform/jobs/define.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { ofUpload, type UploadPayload } from "../../processing/uploads/job-of-upload.ts";
import { findUploadById } from "../../processing/uploads/media-queries.ts";
import { fileReceived } from "../../processing/uploads/transfer/arrival.ts";

/**
 * The job that copies the file of an import to where the files of uploads are stored; from then on it is validated and
 * converted like any upload. Objects below `imports/` are not changed. Killed at any point it runs again and finds a
 * finished copy.
 */
export async function fetchImportJob(
  deps: { readonly db: Database; readonly jobs: JobQueue; readonly store: ObjectStore },
  uploadId: string,
): Promise<void> {
  const { db, store } = deps;
  const upload = await findUploadById(db.kysely, uploadId);
  const from = upload?.import_data?.media_key;
  if (upload?.status !== "awaiting" || !from) return;
  const key = uploadFileKey(uploadId);
  const etag = (await store.head(key))?.etag ?? (await copy(store, from, key));
  // Without a file, validation reports that it was removed.
  await fileReceived(deps, uploadId, etag ?? "");
}

/** @returns the etag of the copy; null when there is nothing left to copy. */
async function copy(store: ObjectStore, from: string, to: string): Promise<string | null> {
  try {
    // A local store would create a link to the same file, which belongs to the operator and may change later.
    if (store.localPath(from) === null) return (await store.copy(from, to)).etag;
    return (await store.put(to, (await store.get(from)).body)).etag;
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

declare module "../../platform/jobs/define.ts" {
  interface JobPayloads {
    fetch_import: UploadPayload;
  }
}

export const fetchImportKind = defineJob({
  ...ofUpload,
  name: "fetch_import",
  label: (i18n) => i18n.t("Fetch import"),
  concurrency: 2,
  hasReservedSlots: true,
  handler: (deps, { uploadId }) => fetchImportJob(deps, uploadId),
});
