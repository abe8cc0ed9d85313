import { errorSuffix, settingsName } from "../../../shared/files/file-groups.ts";
import type { Config, WatchDir } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { type FoundFile, WatchError, type WatchedFolder } from "./folder/index.ts";
import { type FileGroup, type Listed, listGroups, markOf, pathIn } from "./groups.ts";
import { forgetUnseen, type Sighting, saveSightings } from "./queries.ts";
import {
  type MergedSettings,
  noSettings,
  type ResolvedSettings,
  readSettings,
  resolveSettings,
  type SeenSettings,
} from "./settings.ts";

/** Files that one pass looks at; the next pass continues behind them. */
const maxPassFiles = 20_000;

/** Folders within folders. */
const maxDepth = 12;

/** Files that one statement saves. */
const batch = 1000;

/** A file must not have changed for so many intervals. */
const settleIntervals = 3;

interface ScanDependencies {
  readonly db: Database;
  readonly config: Pick<Config, "watchIntervalMs">;
  /** Called for settings that can't be used, and for a folder that can't be read. */
  readonly onProblem: (problem: WatchError) => Promise<void>;
  /** Called when the settings of a folder can be used; `files` are those of the folder. */
  readonly onSettings: (folder: string, files: readonly FoundFile[]) => Promise<void>;
  /** Called with the files of the watched folder itself. */
  readonly onRoot: (files: readonly FoundFile[]) => void;
  readonly seenSettings: SeenSettings;
  readonly signal: AbortSignal;
}

/** Where a pass over a folder is. */
interface Pass {
  readonly deps: ScanDependencies;
  readonly dir: WatchDir;
  readonly watchedFolder: WatchedFolder;
  /** The last folder of the former pass; null: it ended. */
  readonly after: string | null;
  files: number;
  /** The last folder that was looked at. */
  last: string | null;
  /** What was found and is not saved yet, by workspace. */
  readonly found: Map<string, Sighting[]>;
  /** When the first of these was found. */
  foundAt: number;
  /** What settings name in the database, which many folders share. */
  readonly resolved: Map<string, Promise<ResolvedSettings>>;
}

/** How long a file must not have changed before it is taken. */
export function settleMsOf({ watchIntervalMs }: Pick<Config, "watchIntervalMs">): number {
  return settleIntervals * watchIntervalMs;
}

/**
 * Searches a watched folder for files and saves which are ready. Reads a bounded number of files.
 * @param after where the former pass ended.
 * @returns where this pass ended; null: at the end.
 */
export async function scan(
  deps: ScanDependencies,
  dir: WatchDir,
  watchedFolder: WatchedFolder,
  after: string | null,
): Promise<string | null> {
  const pass: Pass = {
    ...{ deps, dir, watchedFolder, after, files: 0, last: null, foundAt: performance.now() },
    found: new Map(),
    resolved: new Map(),
  };
  const isMounted = await watchedFolder.isMounted();
  const isComplete = await scanFolder(pass, "", noSettings, 0);
  await saveFound(pass);
  if (isComplete && isMounted) await forgetUnseen(deps.db.kysely, dir.location);
  return isComplete ? null : pass.last;
}

/** @returns whether the pass may continue. */
async function scanFolder(
  pass: Pass,
  folder: string,
  above: MergedSettings,
  depth: number,
): Promise<boolean> {
  const { deps, watchedFolder } = pass;
  deps.signal.throwIfAborted();
  let listed: Listed;
  let settings = above;
  try {
    listed = await listGroups(watchedFolder, folder);
    if (folder === "") deps.onRoot(listed.files);
    const hasSettings = listed.files.some(({ name }) => name === settingsName);
    deps.seenSettings.note(folder, hasSettings);
    if (hasSettings) settings = await readSettings(watchedFolder, folder, above);
  } catch (error) {
    await report(pass, folder, error);
    return true;
  }
  if (isDue(pass, folder)) {
    pass.files += listed.files.length;
    await addGroups(pass, folder, settings, listed).catch((error) => report(pass, folder, error));
    pass.last = folder;
    if (pass.files >= maxPassFiles) return false;
  }
  if (depth >= maxDepth) return true;
  for (const name of [...listed.folders].sort(byName)) {
    const path = pathIn(folder, name);
    if (!isBehind(pass, path) && !(await scanFolder(pass, path, settings, depth + 1))) return false;
  }
  return true;
}

/** A problem of one folder does not concern the others. */
async function report({ deps }: Pass, folder: string, error: unknown): Promise<void> {
  if (!(error instanceof WatchError)) throw error;
  // A sub-folder may have been removed since it was listed.
  if (folder === "" || !error.isOutdated) await deps.onProblem(error);
}

async function addGroups(
  pass: Pass,
  folder: string,
  settings: MergedSettings,
  { groups, files }: { readonly groups: readonly FileGroup[]; readonly files: readonly FoundFile[] },
): Promise<void> {
  const { deps, dir, watchedFolder } = pass;
  const names = new Set(files.map(({ name }) => name));
  if (groups.length === 0 && !names.has(settingsName)) return;
  const key = JSON.stringify(settings);
  const resolved = pass.resolved.get(key) ?? resolveSettings(deps.db.kysely, dir, watchedFolder, settings);
  pass.resolved.set(key, resolved);
  const { workspaceId } = await resolved;
  await deps.onSettings(folder, files);
  if (pass.found.size === 0) pass.foundAt = performance.now();
  const found = pass.found.get(workspaceId) ?? [];
  pass.found.set(workspaceId, found);
  for (const group of groups)
    found.push({
      path: pathIn(folder, group.main.name),
      mark: markOf(group),
      hasErrorFile: names.has(`${group.main.name}${errorSuffix}`),
    });
  if (found.length >= batch) await saveFound(pass);
}

async function saveFound({ deps, dir, found, foundAt }: Pass): Promise<void> {
  for (const [workspaceId, sightings] of found)
    for (let from = 0; from < sightings.length; from += batch)
      await saveSightings(deps.db.kysely, workspaceId, dir.location, sightings.slice(from, from + batch), {
        settleMs: settleMsOf(deps.config),
        listedMs: performance.now() - foundAt,
      });
  found.clear();
}

/** Whether this pass has to look at a folder: the former one ended before it. */
function isDue({ after }: Pass, folder: string): boolean {
  return after === null || compare(partsOf(folder), partsOf(after)) > 0;
}

/** Whether the former pass has looked at a folder and all folders below. */
function isBehind(pass: Pass, folder: string): boolean {
  return !isDue(pass, folder) && pass.after !== folder && !pass.after?.startsWith(`${folder}/`);
}

function partsOf(folder: string): string[] {
  return folder === "" ? [] : folder.split("/");
}

/** Orders folders as a pass looks at them: a folder comes before those in it. */
function compare(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    if (part !== other) return byName(part, other);
  }
  return a.length - b.length;
}

function byName(a: string, b: string): number {
  return a < b ? -1 : 1;
}
