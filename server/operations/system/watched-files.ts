import { because } from "../../../contract/causes/causes.ts";
import { retryFailed } from "../../connections/watched-folders/overview.ts";
import { type AuditActor, recordAudit } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { readOperatorWorkspace } from "./operator.ts";
import { findProcesses, type ProcessRow } from "./processes.ts";

interface Dependencies {
  readonly db: Database;
  readonly config: Pick<Config, "watchDirs">;
}

/** The folders that are watched: those of this process's settings, and those of the processes that respond. */
export function watchedNow(
  { watchDirs }: Dependencies["config"],
  processes: readonly ProcessRow[],
): ReadonlySet<string> {
  const responding = processes.filter(({ is_responding }) => is_responding);
  return new Set([
    ...watchDirs.map(({ location }) => location),
    ...responding.flatMap(({ watched_folders }) => watched_folders),
  ]);
}

/**
 * Has failed files imported again at the next check of their folder.
 * @param files `id` null: all failed files of the folder.
 * @param actorsOf whom to record, each in the audit log of their workspace.
 * @returns how many files.
 * @throws ProblemError `wrong_state` when no process watches the folder, `not_found` when there is no such failed file.
 */
export async function retryWatchedFiles(
  { db, config }: Dependencies,
  { folder, id }: { readonly folder: string; readonly id: string | null },
  actorsOf: (workspaceId: string) => readonly AuditActor[],
): Promise<number> {
  // Nothing would read them, and they would no longer be listed as failed.
  if (!watchedNow(config, await findProcesses(db)).has(folder))
    throw new ProblemError("wrong_state", because("folder_not_watched", { folder }));
  const operator = await readOperatorWorkspace(db);
  return db.kysely.transaction().execute(async (tx) => {
    const workspaces = await retryFailed(tx, folder, id);
    if (id !== null && workspaces.length === 0)
      throw new ProblemError("not_found", because("watched_file_gone", { id, folder }));
    for (const workspaceId of new Set(workspaces))
      for (const actor of actorsOf(workspaceId))
        await recordAudit(tx, actor, {
          action: "watched_files_retried",
          subject: { type: "workspace", id: workspaceId },
          details: {
            // The operator's folders are not for the admins of other workspaces.
            ...(actor.workspaceId === operator?.id ? { folder } : {}),
            files: workspaces.filter((one) => one === workspaceId).length,
          },
        });
    return workspaces.length;
  });
}
