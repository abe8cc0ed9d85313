import { uploadFileKey } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { UploadRow } from "./queries.ts";

/** What of an upload decides what lies at the key of its file. */
export type FileOwner = Pick<UploadRow, "id" | "status" | "one_step" | "url_expires_at">;

/** Whether the upload still needs its file, or may still get it. */
export function needsFile({ status }: Pick<FileOwner, "status">): boolean {
  return status !== "success" && status !== "failure";
}

/**
 * Whether the key of an ended upload has to stay taken. A bucket's link takes one file as long as it lives (nothing
 * can take it back) and refuses a second one only because the first is there.
 */
export function keepsPlace(store: ObjectStore, upload: FileOwner, now = new Date()): boolean {
  // The older operation's files come through this server, which looks at the upload.
  return (
    store.kind === "s3" &&
    upload.one_step === null &&
    upload.url_expires_at !== null &&
    upload.url_expires_at > now
  );
}

/**
 * Removes the file of an upload that needs it no more; where its link would take another one, an empty object stays
 * in its place until the link has expired, and the sweep of orphans removes that. A crash before this leaves the file
 * to the same sweep.
 */
export async function removeFile(store: ObjectStore, upload: FileOwner): Promise<void> {
  const key = uploadFileKey(upload.id);
  if (keepsPlace(store, upload)) await store.put(key, Buffer.alloc(0));
  else await store.delete(key);
}
