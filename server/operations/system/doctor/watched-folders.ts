import { checkWatchedFolder, WatchError } from "../../../connections/watched-folders/check.ts";
import type { Config } from "../../../platform/config/config.ts";
import { reasonOf } from "../health/finding.ts";
import { type Check, passed, skipped, wrong } from "./check.ts";

/** Checks that each folder of PARLEY_WATCH_DIRS can be read. */
export async function checkWatchedFolders(config: Config): Promise<Check[]> {
  const name = "watched folders";
  if (config.watchDirs.length === 0)
    return [skipped(name, "No folder is watched. Set PARLEY_WATCH_DIRS to import the files of one.")];
  return Promise.all(
    config.watchDirs.map(async (dir) => {
      try {
        await checkWatchedFolder(dir, config);
        return passed(name, `Files in ${dir.location} become recordings.`);
      } catch (error) {
        const remedy = error instanceof WatchError ? error.remedy : "Correct PARLEY_WATCH_DIRS.";
        return wrong(name, reasonOf(error), remedy);
      }
    }),
  );
}
