import type { Database } from "../db/database.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { uploadFileKey } from "../storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { fileReceived } from "../uploads/arrival.ts";
import { findUploadById } from "../uploads/media-queries.ts";

/**
 * The job that brings the file of an import from where it lies in the store to where files of uploads lie; from then
 * on it is one of them, judged and converted like all others. What lies below `imports/` stays as it is. Killed at any
 * point it runs again; a copy that was finished is found.
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
  // Without a file the judge says that it was removed.
  await fileReceived(deps, uploadId, etag ?? "");
}

/** @returns the etag of the copy; null when there is nothing to copy any more. */
async function copy(store: ObjectStore, from: string, to: string): Promise<string | null> {
  try {
    // A local store would make another name of the same file, which is the operator's and may change later.
    if (store.localPath(from) === null) return (await store.copy(from, to)).etag;
    return (await store.put(to, (await store.get(from)).body)).etag;
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}
