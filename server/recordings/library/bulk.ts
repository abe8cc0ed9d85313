import type { z } from "zod";
import type { Cause } from "../../../contract/causes/causes.ts";
import type { ErrorCode } from "../../../contract/errors.ts";
import type { changeRecordings } from "../../../contract/recordings/library.ts";
import type { Requester } from "../../platform/audit/record.ts";
import { forEachConcurrent } from "../../platform/concurrency.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { addTag, removeTag } from "../recordings/change/title-and-tags.ts";
import * as shares from "../recordings/share/shares.ts";
import { type DeletionDeps, deleteRecording } from "../trash/delete.ts";
import { restoreRecording } from "../trash/restore.ts";

type BulkChange = z.output<typeof changeRecordings.body>["change"];
type BulkResult = z.output<typeof changeRecordings.response>;

/** Recordings changed at a time, so that one request leaves most database connections to others. */
const concurrency = 2;

/** Unexpected errors in a row, as of a database that is gone, after which no further recording is tried. */
const maxErrorsInARow = 3;

/**
 * Makes one change to many recordings, each by the function, the transaction and the checks of the single operation. What
 * can't be changed is reported; the others are changed all the same, unless the server itself has problems.
 */
export async function changeMany(
  deps: DeletionDeps & { readonly onFailure: (error: unknown) => void },
  requester: Requester,
  recordingIds: readonly string[],
  change: BulkChange,
): Promise<BulkResult> {
  const done: string[] = [];
  const changed: string[] = [];
  const failed: BulkResult["failed"] = [];
  let purgeDatetime: string | null = null;
  const ids = [...new Set(recordingIds.map((id) => id.toLowerCase()))];
  let errorsInARow = 0;
  await forEachConcurrent(ids, concurrency, async (id) => {
    if (errorsInARow >= maxErrorsInARow) {
      failed.push({ recording_id: id, error: "internal", detail: "not tried; the server has problems" });
      return;
    }
    try {
      const outcome = await changeOne(deps, requester, id, change);
      done.push(id);
      if (outcome.isChanged) changed.push(id);
      purgeDatetime = outcome.purgeDatetime ?? purgeDatetime;
      errorsInARow = 0;
    } catch (error) {
      errorsInARow = error instanceof ProblemError ? 0 : errorsInARow + 1;
      failed.push({ recording_id: id, ...reasonOf(error, deps.onFailure) });
    }
  });
  return { done, changed, failed, purge_datetime: purgeDatetime };
}

interface Failure {
  readonly error: ErrorCode;
  readonly detail: string;
  readonly cause?: Cause | undefined;
}

/** Also of unexpected errors, so that the caller learns what was changed before. */
function reasonOf(error: unknown, onFailure: (error: unknown) => void): Failure {
  if (error instanceof ProblemError) return { error: error.code, detail: error.message, cause: error.cause };
  onFailure(error);
  return { error: "internal", detail: "something went wrong on the server; try again" };
}

interface Outcome {
  /** False where it was as asked already. */
  readonly isChanged: boolean;
  /** When the trash deletes the recording permanently, if the change moved it there. */
  readonly purgeDatetime?: string | null;
}

async function changeOne(
  deps: DeletionDeps,
  { principal, actor }: Requester,
  id: string,
  change: BulkChange,
): Promise<Outcome> {
  const { db } = deps;
  switch (change.kind) {
    case "add_tag":
      return { isChanged: await addTag(db, principal, id, change.tag) };
    case "remove_tag":
      return { isChanged: await removeTag(db, principal, id, change.tag) };
    case "share_with_team": {
      const teamId = change.team_id.toLowerCase();
      return { isChanged: await shares.shareWithTeam(db, principal, id, teamId, actor) };
    }
    case "unshare_from_team": {
      const teamId = change.team_id.toLowerCase();
      return { isChanged: await shares.unshareFromTeam(db, principal, id, teamId, actor) };
    }
    case "share_with_user": {
      const userId = change.user_id.toLowerCase();
      return { isChanged: await shares.shareWithUser(db, principal, id, userId, actor) };
    }
    case "unshare_from_user": {
      const userId = change.user_id.toLowerCase();
      return { isChanged: await shares.unshareFromUser(db, principal, id, userId, actor) };
    }
    case "delete":
      return {
        isChanged: true,
        purgeDatetime: (await deleteRecording(deps, principal, id, actor)).purge_datetime,
      };
    case "restore":
      await restoreRecording(db, principal, id, actor);
      return { isChanged: true };
  }
}
