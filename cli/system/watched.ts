import { Command } from "commander";
import { findFolderOfFailed } from "../../server/connections/watched-folders/overview.ts";
import { readFolders, type SystemState } from "../../server/operations/system/overview.ts";
import { findProcesses } from "../../server/operations/system/processes.ts";
import { retryWatchedFiles, watchedNow } from "../../server/operations/system/watched-files.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import type { Config } from "../../server/platform/config/config.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { counted } from "../../shared/counted.ts";
import { AmbiguousError } from "../support/errors.ts";
import { printTable } from "../support/print-table.ts";
import { withDatabase } from "../support/with-database.ts";

type Folder = SystemState["watched_folders"][number];

interface Options {
  json?: boolean;
  failed?: boolean;
  all?: boolean;
  folder?: string;
}

/** Failed files of a folder that `parley watched list --failed` prints at most, the latest first. */
const maxFailed = 1000;

/** `parley watched list` and `retry` */
export function watchedCommand(command: Command): Command {
  const list = new Command("list")
    .description("list watched folders: files waiting, processing, done and failed, last check, folder")
    .option(
      "--failed",
      `list failed files instead, at most ${maxFailed} of each folder: ID, when it failed, file, error`,
    )
    .option("--folder <folder>", "only this folder, as PARLEY_WATCH_DIRS names it")
    .option("--json", "print the result as a JSON array")
    .action(listWatched);
  const retry = new Command("retry")
    .description("import failed files again at the next check of their folder, which must be watched")
    .argument("[id...]", "IDs of failed files, as `parley watched list --failed` prints them")
    .option("--all", "every failed file")
    .option("--folder <folder>", "every failed file of a folder, as PARLEY_WATCH_DIRS names it")
    .option("--json", "print the number of files as a JSON object")
    .action(retryWatched);
  return command.addCommand(list).addCommand(retry);
}

/** What an operator has to know about a folder besides its numbers. */
export function notesOn({ watched, problem, delay, skipped }: Folder): string[] {
  if (!watched) return ["no running worker watches it; add it to PARLEY_WATCH_DIRS and restart the workers"];
  const others =
    skipped === 0
      ? null
      : `${counted(skipped, "file")} ${skipped === 1 ? "is not a recording" : "are not recordings"}; not-recordings.error.txt in the folder lists them`;
  return [problem, delay, others].filter((text) => text !== null);
}

async function listWatched(options: Options): Promise<void> {
  const all = await withDatabase(readAll);
  const folders = all.filter(({ folder }) => folder === (options.folder ?? folder));
  const failed = folders.flatMap(({ folder, failed_files }) =>
    failed_files.map((file) => ({ folder, ...file })),
  );
  const rows = options.failed ? failed : folders.map(({ failed_files: _, ...folder }) => folder);
  if (options.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0) console.error(options.failed ? "no file has failed" : "no folder is watched");
  else if (options.failed)
    printTable(
      failed.map(({ id, failed_datetime, folder, path, error }) => [
        id,
        failed_datetime,
        `${folder}/${path ?? "(name erased)"}`,
        error.replace(/\s+/g, " "),
      ]),
    );
  else printTable(folders.flatMap(rowsOf));
}

function rowsOf(one: Folder): string[][] {
  const numbers = [one.waiting, one.pending, one.done, one.failed].map(String);
  return [
    [...numbers, one.last_scan_datetime ?? "never", one.folder],
    ...notesOn(one).map((text) => ["", "", "", "", "", `-> ${text}`]),
  ];
}

async function readAll(db: Database, config: Config): Promise<Folder[]> {
  return readFolders(db, watchedNow(config, await findProcesses(db)), maxFailed);
}

async function retryWatched(ids: string[], options: Options): Promise<void> {
  if (ids.length === 0 && !options.all && options.folder === undefined)
    throw new AmbiguousError("name files to retry, or use --all or --folder");
  const retried = await withDatabase((db, config) => retryAll({ db, config }, ids, options));
  if (options.json) process.stdout.write(`${JSON.stringify({ retried })}\n`);
  console.error(`${retried} of the failed files will be imported again at the next check of their folder`);
}

/** @returns how many files. Those named must have failed; others may have been imported meanwhile. */
async function retryAll(
  deps: { readonly db: Database; readonly config: Config },
  ids: readonly string[],
  { all, folder }: Options,
): Promise<number> {
  const actorsOf = (workspaceId: string) => [commandLine(workspaceId)];
  let retried = 0;
  for (const id of new Set(ids)) {
    const found = await findFolderOfFailed(deps.db.kysely, id);
    if (found === null)
      throw new AmbiguousError(`there is no failed file ${id}; see \`parley watched list --failed\``);
    retried += await retryWatchedFiles(deps, { folder: found, id }, actorsOf);
  }
  if (folder !== undefined) retried += await retryWatchedFiles(deps, { folder, id: null }, actorsOf);
  if (!all) return retried;
  const failed = (await readAll(deps.db, deps.config)).filter((one) => one.failed > 0);
  for (const one of failed)
    try {
      retried += await retryWatchedFiles(deps, { folder: one.folder, id: null }, actorsOf);
    } catch (error) {
      console.error(`parley: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  return retried;
}
