import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import type { Config, WatchDir } from "../../platform/config/config.ts";
import { recordingsPrefix, uploadsPrefix } from "../../platform/storage/layout.ts";
import { openWatchedFolder, WatchError } from "./folder/index.ts";

export { WatchError };

/**
 * Checks that a folder of PARLEY_WATCH_DIRS can be watched.
 * @throws WatchError with the remedy.
 */
export async function checkWatchedFolder(dir: WatchDir, config: Config): Promise<void> {
  await refuseOwnFiles(dir, config);
  const watchedFolder = await openWatchedFolder(dir, config);
  try {
    await watchedFolder.check();
  } finally {
    watchedFolder.close();
  }
}

/** @throws WatchError for folders that hold the server's own files. */
export async function refuseOwnFiles(dir: WatchDir, config: Config): Promise<void> {
  if (dir.location.startsWith("s3://")) refuseOwnObjects(dir.location, config);
  else await refuseDataFolder(dir.location, config.dataDir);
}

/** The server's own files are no recordings of others, and must not be moved or deleted. */
async function refuseDataFolder(location: string, dataDir: string): Promise<void> {
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  const [folder, data] = [`${await real(location)}${sep}`, `${await real(dataDir)}${sep}`];
  if (folder.startsWith(data) || data.startsWith(folder))
    throw new WatchError(
      sentenceOf("watch_data_folder", { folder: location }),
      sentences.watch_data_folder_remedy,
    );
}

function refuseOwnObjects(location: string, { s3 }: Config): void {
  if (s3 === null) return;
  const folder = `${location}/`;
  for (const prefix of [uploadsPrefix, recordingsPrefix]) {
    const own = `s3://${s3.bucket}/${ownPrefix(s3.prefix)}${prefix}`;
    if (folder.startsWith(own) || own.startsWith(folder))
      throw new WatchError(
        sentenceOf("watch_own_files", { folder: location }),
        sentences.watch_own_files_remedy,
      );
  }
}

function ownPrefix(prefix: string | null): string {
  const folders = (prefix ?? "").split("/").filter((name) => name !== "");
  return folders.map((name) => `${name}/`).join("");
}
