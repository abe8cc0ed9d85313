import { createHash } from "node:crypto";
import {
  type FileGroup as FilesOf,
  filesOf,
  groupFiles,
  zoomTracksFolder,
} from "../../../shared/files/file-groups.ts";
import type { FoundFile, WatchedFolder } from "./folder/index.ts";

/** The files of one recording in a watched folder. */
export type FileGroup = FilesOf<FoundFile>;

/** What a folder contains. */
export interface Listed {
  readonly groups: readonly FileGroup[];
  readonly files: readonly FoundFile[];
  readonly folders: readonly string[];
}

/** The path of a file in a folder. */
export function pathIn(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Changes when any file of a group does. */
export function markOf(group: FileGroup): Buffer {
  const files = filesOf(group).map(({ name, stamp }) => [name, stamp]);
  return createHash("sha256").update(JSON.stringify(files.sort())).digest();
}

/** The recordings in a folder, each from one or more files, and its sub-folders. */
export async function listGroups(watchedFolder: WatchedFolder, folder: string): Promise<Listed> {
  const { files, folders } = await watchedFolder.list(folder);
  if (!folders.includes(zoomTracksFolder)) return { groups: groupFiles(files), files, folders };
  const below = await watchedFolder.list(pathIn(folder, zoomTracksFolder));
  const tracks = below.files.map((file) => ({ ...file, name: `${zoomTracksFolder}/${file.name}` }));
  return {
    groups: groupFiles([...files, ...tracks]),
    files: [...files, ...tracks],
    folders: folders.filter((name) => name !== zoomTracksFolder),
  };
}
