import type { z } from "zod";
import type { changeRecordings } from "../../contract/library.ts";
import type { Requester } from "../audit/record.ts";
import { forEachConcurrent } from "../platform/concurrency.ts";
import { ProblemError } from "../platform/http/errors/problem.ts";
import { addTag, removeTag } from "../recordings/change/title-and-tags.ts";
import * as shares from "../recordings/share/shares.ts";
import { type DeletionDeps, deleteRecording } from "../trash/delete.ts";
import { restoreRecording } from "../trash/restore.ts";

type BulkChange = z.output<typeof changeRecordings.body>["change"];
type BulkResult = z.output<typeof changeRecordings.response>;

/** Recordings changed at a time, so that one request leaves most database connections to others. */
const concurrency = 2;

/**
 * Makes one change to many recordings, each by the function, the transaction and the checks of the single operation. What
 * can't be changed is reported; the others are changed all the same.
 */
export async function changeMany(
  deps: DeletionDeps,
  requester: Requester,
  recordingIds: readonly string[],
  change: BulkChange,
): Promise<BulkResult> {
  const done: string[] = [];
  const failed: BulkResult["failed"] = [];
  let purgeDatetime: string | null = null;
  const ids = [...new Set(recordingIds.map((id) => id.toLowerCase()))];
  await forEachConcurrent(ids, concurrency, async (id) => {
    try {
      purgeDatetime = (await changeOne(deps, requester, id, change)) ?? purgeDatetime;
      done.push(id);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      failed.push({ recording_id: id, error: error.code, detail: error.message });
    }
  });
  return { done, failed, purge_datetime: purgeDatetime };
}

/** @returns when the trash deletes the recording permanently, if the change moved it there. */
async function changeOne(
  deps: DeletionDeps,
  { principal, actor }: Requester,
  id: string,
  change: BulkChange,
): Promise<string | null> {
  const { db } = deps;
  switch (change.kind) {
    case "add_tag":
      await addTag(db, principal, id, change.tag);
      return null;
    case "remove_tag":
      await removeTag(db, principal, id, change.tag);
      return null;
    case "share_with_team":
      await shares.shareWithTeam(db, principal, id, change.team_id.toLowerCase(), actor);
      return null;
    case "unshare_from_team":
      await shares.unshareFromTeam(db, principal, id, change.team_id.toLowerCase(), actor);
      return null;
    case "share_with_user":
      await shares.shareWithUser(db, principal, id, change.user_id.toLowerCase(), actor);
      return null;
    case "unshare_from_user":
      await shares.unshareFromUser(db, principal, id, change.user_id.toLowerCase(), actor);
      return null;
    case "delete":
      return (await deleteRecording(deps, principal, id, actor)).purge_datetime;
    case "restore":
      await restoreRecording(db, principal, id, actor);
      return null;
  }
}
