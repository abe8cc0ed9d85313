import type { Config, WatchDir } from "../../../platform/config/config.ts";
import { openLocalFolder } from "./local.ts";
import type { WatchedFolder } from "./watched-folder.ts";

export {
  type FoundFile,
  importedFolder,
  type OpenFile,
  outdated,
  WatchError,
  type WatchedFolder,
} from "./watched-folder.ts";

/** Opens a watched folder. Reads nothing before its first use. */
export async function openWatchedFolder({ location }: WatchDir, config: Config): Promise<WatchedFolder> {
  if (!location.startsWith("s3://")) return openLocalFolder(location);
  // The client of S3 takes a while to load.
  const { openBucketFolder } = await import("./bucket.ts");
  return openBucketFolder(location, config);
}
