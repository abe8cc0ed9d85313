import type { Tx } from "../../../platform/db/database.ts";

/** @returns false when the recording was shared with the user already. */
export async function insertUserShare(tx: Tx, recordingId: string, userId: string): Promise<boolean> {
  const rows = await tx
    .insertInto("recording_user_shares")
    .values({ recording_id: recordingId, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning("user_id")
    .execute();
  return rows.length > 0;
}

/** @returns false when the recording was not shared with the user. */
export async function deleteUserShare(tx: Tx, recordingId: string, userId: string): Promise<boolean> {
  const rows = await tx
    .deleteFrom("recording_user_shares")
    .where("recording_id", "=", recordingId)
    .where("user_id", "=", userId)
    .returning("user_id")
    .execute();
  return rows.length > 0;
}

/** @returns false when the recording was shared with the team already. */
export async function insertTeam(tx: Tx, recordingId: string, teamId: string): Promise<boolean> {
  const rows = await tx
    .insertInto("recording_teams")
    .values({ recording_id: recordingId, team_id: teamId })
    .onConflict((conflict) => conflict.doNothing())
    .returning("team_id")
    .execute();
  return rows.length > 0;
}

/** @returns false when the recording was not shared with the team. */
export async function deleteTeam(tx: Tx, recordingId: string, teamId: string): Promise<boolean> {
  const rows = await tx
    .deleteFrom("recording_teams")
    .where("recording_id", "=", recordingId)
    .where("team_id", "=", teamId)
    .returning("team_id")
    .execute();
  return rows.length > 0;
}
