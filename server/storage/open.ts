import { join } from "node:path";
import { openLocalStore } from "./local.ts";
import type { ObjectStore } from "./store.ts";

/** What decides where files are kept. */
export interface StoreSettings {
  readonly dataDir: string;
  readonly s3: {
    readonly bucket: string;
    readonly endpoint: string | null;
    readonly region: string;
    readonly forcePathStyle: boolean;
    /** Goes before every key; null for a bucket of its own. */
    readonly prefix: string | null;
  } | null;
}

/** Opens the store that the settings mean. Amazon's library is loaded only where it is needed: it takes 40 MB. */
export async function openStore({ dataDir, s3 }: StoreSettings): Promise<ObjectStore> {
  if (s3 === null) return openLocalStore(dataDir);
  const { openS3Store } = await import("./s3.ts");
  return openS3Store({
    bucket: s3.bucket,
    region: s3.region,
    forcePathStyle: s3.forcePathStyle,
    prefix: s3.prefix ?? "",
    scratchDir: join(dataDir, "scratch"),
    ...(s3.endpoint === null ? {} : { endpoint: s3.endpoint }),
  });
}
