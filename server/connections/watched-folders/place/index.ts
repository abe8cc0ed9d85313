import type { Config, WatchDir } from "../../../platform/config/config.ts";
import { openLocalPlace } from "./local.ts";
import type { Place } from "./place.ts";

export { type FoundFile, importedFolder, type OpenFile, outdated, type Place, WatchError } from "./place.ts";

/** Opens a watched folder. Reads nothing before its first use. */
export async function openPlace({ location }: WatchDir, config: Config): Promise<Place> {
  if (!location.startsWith("s3://")) return openLocalPlace(location);
  // The client of S3 takes a while to load.
  const { openBucketPlace } = await import("./bucket.ts");
  return openBucketPlace(location, config);
}
