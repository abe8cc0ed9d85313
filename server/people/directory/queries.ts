import type { Executor } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";

/** Active users of a workspace, by name. */
export function findUsers(db: Executor, workspaceId: string) {
  return db
    .selectFrom("users")
    .select(["id", "name", "email"])
    .where("workspace_id", "=", workspaceId)
    .where("deactivated_at", "is", null)
    .orderBy("name")
    .orderBy("id")
    .execute();
}

/** The active users of a workspace who have not accepted their invitation yet. */
export async function findInvitedIds(db: Executor, workspaceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("deactivated_at", "is", null)
    .where("invited_at", "is not", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Teams of a workspace, by name. */
export function findTeams(db: Executor, workspaceId: string) {
  return db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("name")
    .orderBy("id")
    .execute();
}

/** Meeting types of a workspace in their order. */
export function findMeetingTypes(db: Executor, workspaceId: string) {
  return db
    .selectFrom("meeting_types")
    .select(["id", "name", "scope"])
    .where("workspace_id", "=", workspaceId)
    .orderBy("position")
    .execute();
}

/** One active user of a workspace. */
export function findUser(db: Executor, workspaceId: string, userId: string) {
  return db
    .selectFrom("users")
    .select(["id", "name", "email"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", userId)
    .where("deactivated_at", "is", null)
    .executeTakeFirst();
}

/** One team of a workspace. */
export function findTeam(db: Executor, workspaceId: string, teamId: string) {
  return db
    .selectFrom("teams")
    .select(["id", "name"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", teamId)
    .executeTakeFirst();
}

/** Which of these ids are active users of the workspace. */
export async function findUserIds(
  db: Executor,
  workspaceId: string,
  userIds: readonly string[],
): Promise<Set<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "in", userIds)
    .where("deactivated_at", "is", null)
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** Which of these ids are teams of the workspace. */
export async function findTeamIds(
  db: Executor,
  workspaceId: string,
  teamIds: readonly string[],
): Promise<Set<string>> {
  if (teamIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("teams")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("id", "in", teamIds)
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** The default meeting type of a scope. */
export async function findDefaultMeetingType(
  db: Executor,
  workspaceId: string,
  scope: "internal" | "external",
): Promise<string | null> {
  const row = await db
    .selectFrom("meeting_types")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("scope", "=", scope)
    .where("is_default", "=", true)
    // Locked against deletion until the transaction ends.
    .forKeyShare()
    .modifyEnd(prepared)
    .executeTakeFirst();
  return row?.id ?? null;
}

/** Locks a meeting type against deletion until the transaction ends. @returns whether it exists. */
export async function holdMeetingType(db: Executor, workspaceId: string, id: string): Promise<boolean> {
  const row = await db
    .selectFrom("meeting_types")
    .select("id")
    .where("id", "=", id)
    .where("workspace_id", "=", workspaceId)
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}
