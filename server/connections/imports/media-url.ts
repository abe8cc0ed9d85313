import { checkKey } from "../../platform/storage/key-rules.ts";
import { importsPrefix } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";

/**
 * Reads where the file of an import is stored. It must be an object in this server's own store, below the folder of the
 * caller's workspace: the server fetches no URLs.
 * @param bucket the bucket of the store; null for a local one.
 * @returns the object's key, or the violation.
 */
export function readMediaUrl(
  url: string,
  workspaceId: string,
  store: Pick<ObjectStore, "ownKey">,
  bucket: string | null,
): { readonly key: string } | { readonly fault: string } {
  const folder = `${importsPrefix}${workspaceId}/`;
  const rule = `must be the key of an object of this server's store below ${folder}`;
  let key: string | null = url;
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) {
    const [, named, name] = /^s3:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
    key = named === undefined || named !== bucket ? null : store.ownKey(name ?? "");
    if (key === null) return { fault: `${rule}, or its s3:// URL in the server's own bucket` };
  }
  if (!key.startsWith(folder)) return { fault: rule };
  try {
    checkKey(key);
  } catch {
    return {
      fault: `${rule}, of letters, digits and ._=- between slashes; no part may begin with a dot`,
    };
  }
  return { key };
}
