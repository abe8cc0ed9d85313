import { uploadFilesPath } from "../../../../contract/uploads/upload-file.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import { uploadFileKey } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import type { UploadRow } from "../queries.ts";

/** Path below the base URL of resumable uploads. */
export const resumablePath = "/_/media/resumable";

/** A bucket's signed URLs are valid for whole seconds. */
const minUrlLifetimeMs = 1000;

/** Where and how a client sends an upload's file. */
export interface FileTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tusUrl: string;
}

/** Creates the URLs that an upload's file is sent to: the bucket's own where it has one, otherwise this server's. */
export function createFileLinks(deps: {
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly baseUrl: string;
}): (row: UploadRow) => Promise<FileTarget> {
  const { store, signer, baseUrl } = deps;
  return async (row) => {
    const expiresAt = row.url_expires_at;
    if (expiresAt === null) throw new Error(`upload ${row.id} takes no file`);
    const tusUrl = `${baseUrl}${resumablePath}/${row.id}?${signer.query("resume", row.id, expiresAt)}`;
    // The older operation returns no headers, and without them a bucket would let a second file replace the first. A
    // bucket can't sign a URL that has expired; our own URL then returns the reason.
    const isOpen = expiresAt.getTime() > Date.now() + minUrlLifetimeMs;
    const direct =
      isOpen && row.one_step === null ? await store.uploadLink(uploadFileKey(row.id), { expiresAt }) : null;
    if (direct !== null) return { url: direct.url, headers: direct.headers, tusUrl };
    const url = `${baseUrl}${uploadFilesPath}/${row.id}?${signer.query("upload", row.id, expiresAt)}`;
    // Also for uploads of the older operation, whose PUT works without it too.
    return { url, headers: { "If-None-Match": "*" }, tusUrl };
  };
}
