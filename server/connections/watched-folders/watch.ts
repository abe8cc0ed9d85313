import { errorSuffix, settingsName } from "../../../shared/files/file-groups.ts";
import type { Config, WatchDir } from "../../platform/config/config.ts";
import { type Schedule, startSchedule } from "../../platform/jobs/schedule.ts";
import { refuseOwnFiles } from "./check.ts";
import type { ImportDependencies } from "./dependencies.ts";
import { finishFile } from "./finish-file.ts";
import { type FoundFile, openWatchedFolder, WatchError, type WatchedFolder } from "./folder/index.ts";
import { pathIn } from "./groups.ts";
import { type Claim, importFile } from "./import-file.ts";
import { createListings, type Listings } from "./listings.ts";
import { createNotice, type Notice, noticeName, noticeStem, skippedName, skippedStem } from "./notice.ts";
import { saveScan } from "./overview.ts";
import { claimFile, extendLease, findSkipped, isAnyOverQuota, type WatchedFile } from "./queries.ts";
import { listFailure, ownerPrincipal, removeErrorFile, writeErrorFile } from "./report.ts";
import { scan, settleMsOf } from "./scan.ts";
import { createSeenSettings, resolveSettings, type SeenSettings, SettingsError } from "./settings.ts";

/** Files that a process reads at a time. */
const concurrency = 2;

/** How often a worker says that it is still busy with a file. */
const leaseEveryMs = 3000;

/** A folder that is watched. */
interface Watched {
  readonly dir: WatchDir;
  readonly watchedFolder: WatchedFolder;
  readonly listings: Listings;
  readonly notice: Notice;
  readonly seenSettings: SeenSettings;
  /** Where the last pass over it ended; null: at its end. */
  after: string | null;
  /** The list of files that are not recordings, as it was written last; null: there is none; undefined: unknown. */
  skipped: string | null | undefined;
  /** The first problem since the last complete look at the folder, which may take several passes. */
  problem: string | null;
}

/**
 * Watches the folders of PARLEY_WATCH_DIRS by listing them again and again, which network mounts support as well. Several
 * processes may watch the same folder: PostgreSQL gives each file to one of them.
 * @param isPaused whether nothing may be imported, as in a restored copy of an installation.
 */
export function startWatching(deps: ImportDependencies, isPaused: () => Promise<boolean>): Schedule {
  const { config, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const reported = new Map<string, string>();
  const opened = new Map<string, Promise<Watched | null>>();

  /** The folders of the present settings that can be opened; the others are tried again at the next pass. */
  async function open(): Promise<Watched[]> {
    const all = await Promise.all(config.watchDirs.map(openOnce));
    return all.filter((one) => one !== null);
  }

  function openOnce(dir: WatchDir): Promise<Watched | null> {
    const key = `${dir.workspaceId} ${dir.location}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const opening = openOne(dir).catch((error: Error) => {
      opened.delete(key);
      if (reported.get(key) !== error.message)
        log.warn({ reason: error.message, folder: dir.location }, "a watched folder can't be opened");
      reported.set(key, error.message);
      return null;
    });
    opened.set(key, opening);
    return opening;
  }

  async function openOne(dir: WatchDir): Promise<Watched> {
    await refuseOwnFiles(dir, config);
    return watch(dir, await openWatchedFolder(dir, config), config);
  }

  const pass = async (): Promise<void> => {
    if (signal.aborted || config.watchDirs.length === 0 || (await isPaused())) return;
    for (const one of await open())
      await scanOne(deps, one, reported, signal).catch((error) => {
        if (!signal.aborted)
          log.warn({ err: error, folder: one.dir.location }, "a watched folder can't be read");
      });
  };
  const work = async (): Promise<void> => {
    if (signal.aborted || config.watchDirs.length === 0 || (await isPaused())) return;
    const all = await open();
    await Promise.all(Array.from({ length: concurrency }, () => importDue(deps, all, signal)));
  };
  const scanning = startSchedule(config.watchIntervalMs, log, { "watched folders": pass });
  const importing = startSchedule(Math.min(config.watchIntervalMs, maxIdleMs), log, {
    "watched files": work,
  });
  return {
    async stop() {
      stopping.abort(new Error("the server is stopping"));
      await Promise.all([scanning.stop(), importing.stop()]);
      for (const watched of await Promise.all(opened.values())) watched?.watchedFolder.close();
    },
  };
}

/** How often to check for files that are ready, which another process may have found. */
const maxIdleMs = 5000;

/** A folder that no pass has looked at yet. */
export function watch(
  dir: WatchDir,
  watchedFolder: WatchedFolder,
  config: Pick<Config, "watchIntervalMs">,
): Watched {
  const settleMs = settleMsOf(config);
  return {
    ...{ dir, watchedFolder, notice: createNotice(), after: null, skipped: undefined, problem: null },
    listings: createListings(watchedFolder, settleMs),
    seenSettings: createSeenSettings(settleMs),
  };
}

/** Looks at a folder, as far as one pass does. @param reported the errors that were reported, by file. */
export async function scanOne(
  deps: ImportDependencies,
  watched: Watched,
  reported: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const { dir, watchedFolder } = watched;
  if (watched.after === null) watched.problem = null;
  watched.after = await scan(
    {
      db: deps.db,
      config: deps.config,
      seenSettings: watched.seenSettings,
      signal,
      onRoot(files) {
        watched.notice.isThere = files.some(({ name }) => name === noticeName);
        if (watched.skipped === undefined && !files.some(({ name }) => name === skippedName))
          watched.skipped = null;
      },
      async onProblem(error) {
        watched.problem ??= error.message;
        const file = error instanceof SettingsError ? error.file : "";
        const key = `${dir.location}\n${file}`;
        if (reported.get(key) === error.message) return;
        reported.set(key, error.message);
        deps.log.warn({ reason: error.message, remedy: error.remedy }, "a watched folder can't be imported");
        if (error instanceof SettingsError) await reportSettings(deps, watched, error);
      },
      async onSettings(folder, files) {
        await clearSettings(deps, watched, folder, files);
        const file = pathIn(folder, settingsName);
        reported.delete(`${dir.location}\n${file}`);
      },
    },
    dir,
    watchedFolder,
    watched.after,
  );
  if (watched.after === null) {
    await saveScan(deps.db.kysely, dir.location, watched.problem);
    await listSkipped(deps, watched);
  }
  if (watched.notice.isThere && !(await isAnyOverQuota(deps.db.kysely, dir.location)))
    await removeErrorFile(deps, watchedFolder, noticeStem);
}

/** Files whose names the list of files that are not recordings has. */
const maxSkippedNames = 100;

/** Says in the watched folder which files are not recordings: one file for all, and none where there are none. */
async function listSkipped(deps: ImportDependencies, watched: Watched): Promise<void> {
  const { watchedFolder, dir } = watched;
  const { count, files } = await findSkipped(deps.db.kysely, dir.location, maxSkippedNames);
  const names = files.map(({ path, content }) => `${path}: ${content}`);
  const text =
    count === 0
      ? null
      : [...names, ...(count > names.length ? [`and ${count - names.length} more`] : [])].join("\n");
  if (text === watched.skipped) return;
  watched.skipped = text;
  if (text === null) return removeErrorFile(deps, watchedFolder, skippedStem);
  await writeErrorFile(deps, watchedFolder, skippedStem, [
    "Not imported into Parley, because these files are not recordings:",
    text,
  ]);
}

/** Writes the error beside the settings, and lists it among the uploads of the user who would own the files, or of the first admin. */
async function reportSettings(
  deps: ImportDependencies,
  { dir, watchedFolder }: Watched,
  { file, others, message, remedy }: SettingsError,
): Promise<void> {
  await writeErrorFile(deps, watchedFolder, file, [
    "Files in this folder are not imported into Parley.",
    message,
    remedy,
  ]);
  const found = await resolveSettings(deps.db.kysely, dir, watchedFolder, others).catch((error) => {
    if (error instanceof WatchError) return null;
    throw error;
  });
  // Without a workspace there is no user to show it to.
  if (found === null) return;
  const owner = ownerPrincipal(found.workspaceId, { id: found.ownerId, email: found.ownerEmail });
  await listFailure(deps, owner, {
    name: file,
    identity: `${dir.location}\n${file}\n${message}`,
    reason: `${message} ${remedy}`.trim(),
  });
}

async function clearSettings(
  deps: ImportDependencies,
  { watchedFolder }: Watched,
  folder: string,
  files: readonly FoundFile[],
): Promise<void> {
  if (files.some(({ name }) => name === `${settingsName}${errorSuffix}`))
    await removeErrorFile(deps, watchedFolder, pathIn(folder, settingsName));
}

/** Takes files until none is due. */
async function importDue(
  deps: ImportDependencies,
  all: readonly Watched[],
  signal: AbortSignal,
): Promise<void> {
  const byFolder = new Map(all.map((one) => [one.dir.location, one]));
  while (!signal.aborted) {
    const file = await claimFile(deps.db.kysely, [...byFolder.keys()]);
    const watched = byFolder.get(file?.folder ?? "");
    if (file === undefined || watched === undefined) return;
    if (!hasPath(file)) throw new Error("a file that is due has a path");
    const claim: Claim = { ...watched, file };
    const lease = setInterval(() => {
      void extendLease(deps.db.kysely, file).catch(() => {});
    }, leaseEveryMs);
    try {
      if (file.state === "ready") await importFile(deps, claim, signal);
      else await finishFile(deps, claim);
    } finally {
      clearInterval(lease);
    }
  }
}

function hasPath(file: WatchedFile): file is WatchedFile & { readonly path: string } {
  return file.path !== null;
}
