import { sql } from "kysely";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";

/** Marks a recording as a favorite of the user, or removes the mark. */
export async function setFavorite(
  db: Database,
  principal: Principal,
  recordingId: string,
  isFavorite: boolean,
): Promise<{ success: true }> {
  if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
  if (principal.scope === "workspace")
    throw new ProblemError("forbidden", "favorites belong to a user; use a personal token");
  const { workspaceId, userId } = principal;
  // The recording may be deleted meanwhile: then nothing is inserted.
  if (isFavorite)
    await sql`
      insert into favorite_recordings (workspace_id, user_id, recording_id)
      select ${workspaceId}, ${userId}, id from recordings where id = ${recordingId} for key share
      on conflict do nothing`.execute(db.kysely);
  else
    await sql`
      delete from favorite_recordings
      where workspace_id = ${workspaceId} and user_id = ${userId} and recording_id = ${recordingId}`.execute(
      db.kysely,
    );
  return { success: true };
}
