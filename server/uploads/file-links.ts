import type { LinkSigner } from "../links/signer.ts";
import { uploadFileKey } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { UploadRow } from "./queries.ts";

/** Below the base address: where files of uploads are sent to this server. */
export const uploadFilesPath = "/_/media/uploads";
/** The same for files sent in pieces. */
export const resumablePath = "/_/media/resumable";

/** A bucket's links live for whole seconds. */
const shortestLinkMs = 1000;

/** Where and how a client sends an upload's file. */
export interface FileTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tusUrl: string;
}

/** Makes the addresses an upload's file is sent to: the bucket's own where it has one, or else this server's. */
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
    // The older operation hands out no headers, and without them a bucket would let a second file replace the first.
    // A bucket signs nothing that has expired; our own address then says what is the matter.
    const isOpen = expiresAt.getTime() > Date.now() + shortestLinkMs;
    const direct =
      isOpen && row.one_step === null ? await store.uploadLink(uploadFileKey(row.id), { expiresAt }) : null;
    if (direct !== null) return { url: direct.url, headers: direct.headers, tusUrl };
    const url = `${baseUrl}${uploadFilesPath}/${row.id}?${signer.query("upload", row.id, expiresAt)}`;
    return { url, headers: row.one_step ? {} : { "If-None-Match": "*" }, tusUrl };
  };
}
