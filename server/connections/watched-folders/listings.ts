import { filesOf } from "../../../shared/files/file-groups.ts";
import type { WatchedFolder } from "./folder/index.ts";
import { type FileGroup, type Listed, listGroups, markOf, pathIn } from "./groups.ts";

/** Listings that are kept have at most so many files in all. */
const maxFiles = 40_000;

/**
 * A listing is used for so many times as long as it took, so that listing takes a sixth of the time at most. What arrives
 * meanwhile is not seen, so the time is short where listing is cheap.
 */
const usesPerListing = 5;

/** A listing that has not a file says for so long that it is gone. */
const goneMs = 1000;

/**
 * What the folders of a watched folder contained a moment ago. Without it, importing a folder with thousands of files would
 * list it for each of them. Whether a file is still the same is checked in any case.
 */
export interface Listings {
  /**
   * The group of a file, by the name that its folder lists. Null: the file is gone.
   * @param mark of the group when the folder was checked; another one is looked up in a new listing.
   */
  find(folder: string, name: string, mark: Buffer): Promise<FileGroup | null>;
}

/** A listing of a folder, which may still be in progress. */
interface Entry {
  readonly listed: Promise<Listed>;
  /** When it ended. */
  at: number;
  /** How long it is used. */
  until: number;
  files: number;
}

/** @param maxAgeMs how long a listing is used at most. */
export function createListings(
  watchedFolder: WatchedFolder,
  maxAgeMs: number,
  uses = usesPerListing,
): Listings {
  const kept = new Map<string, Entry>();

  function list(folder: string): Promise<Listed> {
    const began = performance.now();
    const listed = listGroups(watchedFolder, folder);
    const entry: Entry = { listed, at: Infinity, until: Infinity, files: 0 };
    kept.delete(folder);
    kept.set(folder, entry);
    listed.then(
      ({ files }) => {
        entry.at = performance.now();
        entry.until = entry.at + Math.min(maxAgeMs, uses * (entry.at - began));
        entry.files = files.length;
        trim();
      },
      () => kept.get(folder) === entry && kept.delete(folder),
    );
    return listed;
  }

  /** The group in a listing of a moment ago; undefined: the folder has to be listed. */
  async function findKept(folder: string, name: string, mark: Buffer): Promise<FileGroup | null | undefined> {
    const entry = kept.get(folder);
    if (entry === undefined || performance.now() > entry.until) return undefined;
    const found = groupOf(await entry.listed, name);
    // A file that is due was there for longer; where many are gone, the folder is not listed for each.
    if (found === null) return performance.now() - entry.at < goneMs ? null : undefined;
    return markOf(found).equals(mark) && (await isCurrent(watchedFolder, folder, found)) ? found : undefined;
  }

  /** Drops the oldest listings, but never the last. */
  function trim(): void {
    let files = [...kept.values()].reduce((sum, entry) => sum + entry.files, 0);
    for (const [folder, entry] of kept) {
      if (files <= maxFiles || kept.size === 1) return;
      kept.delete(folder);
      files -= entry.files;
    }
  }

  return {
    async find(folder, name, mark) {
      const found = await findKept(folder, name, mark);
      return found === undefined ? groupOf(await list(folder), name) : found;
    },
  };
}

function groupOf({ groups }: Listed, name: string): FileGroup | null {
  return groups.find(({ main }) => main.name === name) ?? null;
}

async function isCurrent(watchedFolder: WatchedFolder, folder: string, group: FileGroup): Promise<boolean> {
  for (const { name, stamp } of filesOf(group))
    if (!(await watchedFolder.isCurrent(pathIn(folder, name), stamp))) return false;
  return true;
}
