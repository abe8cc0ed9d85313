import { join } from "node:path";
import { type LocalStoreOptions, openLocalStore } from "./local/local.ts";
import type { ObjectStore, StoreKind } from "./store.ts";

/** The settings that decide where files are stored. */
export interface StoreSettings {
  readonly dataDir: string;
  readonly storage: StoreKind;
  readonly s3: {
    readonly bucket: string;
    readonly endpoint: string | null;
    readonly region: string;
    readonly forcePathStyle: boolean;
    /** Prefix of every key; null for a dedicated bucket. */
    readonly prefix: string | null;
  } | null;
}

/**
 * Opens a store. Amazon's library is loaded only when needed: it takes 40 MB.
 * @param kind default: the configured one. A bucket must be named for S3.
 * @param options for a local store.
 */
export async function openStore(
  { dataDir, storage, s3 }: StoreSettings,
  kind: StoreKind = storage,
  options: LocalStoreOptions = {},
): Promise<ObjectStore> {
  if (kind === "local") return openLocalStore(dataDir, undefined, options);
  if (s3 === null) throw new TypeError("no bucket is named");
  const { openS3Store } = await import("./s3/s3.ts");
  return openS3Store({
    bucket: s3.bucket,
    region: s3.region,
    forcePathStyle: s3.forcePathStyle,
    prefix: s3.prefix ?? "",
    scratchDir: join(dataDir, "scratch"),
    ...(s3.endpoint === null ? {} : { endpoint: s3.endpoint }),
  });
}
