import { uploadFileKey } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import type { UploadRow } from "../queries.ts";

/** The fields of an upload that decide what is stored at its file's key. */
export type FileOwner = Pick<UploadRow, "id" | "status" | "one_step" | "url_expires_at">;

/** Whether the upload still needs its file, or may still receive it. */
export function needsFile({ status }: Pick<FileOwner, "status">): boolean {
  return status !== "success" && status !== "failure";
}

/**
 * Whether the key of a finished upload has to stay taken. A bucket's signed URL accepts one file until it expires (it
 * can't be revoked) and refuses a second one only because the first is there.
 */
export function keepsKeyTaken(store: ObjectStore, upload: FileOwner, now = new Date()): boolean {
  // Files of the older operation pass through this server, which checks the upload.
  return (
    store.kind === "s3" &&
    upload.one_step === null &&
    upload.url_expires_at !== null &&
    upload.url_expires_at > now
  );
}

/**
 * Removes the file of an upload that no longer needs it. Where its signed URL would accept another file, an empty
 * object takes its place until the URL has expired, and the sweep of orphans removes that. After a crash before this
 * call, the same sweep removes the file.
 */
export async function removeFile(store: ObjectStore, upload: FileOwner): Promise<void> {
  const key = uploadFileKey(upload.id);
  if (keepsKeyTaken(store, upload)) await store.put(key, Buffer.alloc(0));
  else await store.delete(key);
}
