import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Executor, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { syncGrants } from "../../access/grants.ts";
import { findUserIds } from "../../directory/queries.ts";
import { recordEvent } from "../../events/record-event.ts";

export interface TeamRow {
  readonly id: string;
  readonly name: string;
  readonly member_ids: string[];
}

/** All teams of a workspace by name, or one of them, with their active members. */
export async function findTeamsWithMembers(
  db: Executor,
  workspaceId: string,
  teamId?: string,
): Promise<TeamRow[]> {
  const { rows } = await sql<TeamRow>`
    select t.id, t.name, array(
      select m.user_id from team_members m join users u on u.id = m.user_id
      where m.team_id = t.id and u.deactivated_at is null order by u.name, u.id) as member_ids
    from teams t
    where t.workspace_id = ${workspaceId} and (${teamId ?? null}::uuid is null or t.id = ${teamId ?? null}::uuid)
    order by t.name, t.id`.execute(db);
  return rows;
}

/** Creates a team. @throws ProblemError `wrong_state` when the name is taken, `invalid_input` for an unknown member. */
export async function createTeam(
  tx: Tx,
  actor: AuditActor,
  input: { readonly name: string; readonly memberIds: readonly string[] },
): Promise<string> {
  const id = randomUUIDv7();
  const inserted = await tx
    .insertInto("teams")
    .values({ id, workspace_id: actor.workspaceId, name: input.name })
    .onConflict((conflict) => conflict.columns(["workspace_id", "name_key"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  if (inserted === undefined) throw nameTaken(input.name);
  const members = [...new Set(input.memberIds.map((member) => member.toLowerCase()))];
  const known = await findUserIds(tx, actor.workspaceId, members);
  for (const [index, member] of members.entries())
    if (!known.has(member)) throw invalidInput([{ pointer: `/member_ids/${index}`, detail: notAUser }]);
  if (members.length > 0)
    await tx
      .insertInto("team_members")
      .values(members.map((user_id) => ({ team_id: id, user_id })))
      .execute();
  await recordAudit(tx, actor, {
    action: "team_created",
    subject: { type: "team", id },
    details: { name: input.name, members },
  });
  return id;
}

/** Renames a team. @throws ProblemError `not_found`, `wrong_state`. */
export async function renameTeam(tx: Tx, actor: AuditActor, teamId: string, name: string): Promise<void> {
  const team = await lockTeam(tx, actor.workspaceId, teamId);
  if (team.name === name) return;
  const taken = await tx
    .selectFrom("teams")
    .select("id")
    .where("workspace_id", "=", actor.workspaceId)
    .where("name_key", "=", sql<string>`parley_fold(${name})`)
    .where("id", "!=", teamId)
    .executeTakeFirst();
  if (taken !== undefined) throw nameTaken(name);
  await tx.updateTable("teams").set({ name }).where("id", "=", teamId).execute();
  await recordAudit(tx, actor, {
    action: "team_changed",
    subject: { type: "team", id: teamId },
    details: { name },
  });
}

/**
 * Deletes a team and its shares. Every recording shared with it gets a `recording_updated` event.
 * @throws ProblemError `not_found`.
 */
export async function deleteTeam(tx: Tx, actor: AuditActor, teamId: string): Promise<void> {
  const { workspaceId } = actor;
  // Locked in the same order as sharing does (recordings, then team), to avoid deadlocks.
  await lockRecordingsOf(tx, teamId);
  const team = await lockTeam(tx, workspaceId, teamId);
  // Again, to include shares that were committed while waiting for the team.
  const recordingIds = await lockRecordingsOf(tx, teamId);
  await tx.deleteFrom("teams").where("id", "=", teamId).execute();
  await syncGrants(tx, recordingIds);
  for (const subjectId of recordingIds)
    await recordEvent(tx, { workspaceId, type: "recording_updated", subjectId, data: {} });
  await recordAudit(tx, actor, {
    action: "team_deleted",
    subject: { type: "team", id: teamId },
    details: { name: team.name, recordings: recordingIds.length },
  });
}

/** Adds a user to a team. Idempotent. @throws ProblemError `not_found`, `invalid_input`. */
export async function addMember(tx: Tx, actor: AuditActor, teamId: string, given: string): Promise<void> {
  const userId = given.toLowerCase();
  await lockTeam(tx, actor.workspaceId, teamId);
  if (!(await findUserIds(tx, actor.workspaceId, [userId])).has(userId))
    throw invalidInput([{ pointer: "/user_id", detail: notAUser }]);
  const added = await tx
    .insertInto("team_members")
    .values({ team_id: teamId, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning("user_id")
    .executeTakeFirst();
  if (added !== undefined) await recordMembers(tx, actor, teamId, { added: userId });
}

/** Removes a user from a team. @throws ProblemError `not_found` when they are not a member. */
export async function removeMember(tx: Tx, actor: AuditActor, teamId: string, userId: string): Promise<void> {
  await lockTeam(tx, actor.workspaceId, teamId);
  const removed = await tx
    .deleteFrom("team_members")
    .where("team_id", "=", teamId)
    .where("user_id", "=", userId)
    .returning("user_id")
    .executeTakeFirst();
  if (removed === undefined) throw new ProblemError("not_found", because("not_in_team", { user: userId }));
  await recordMembers(tx, actor, teamId, { removed: userId });
}

const notAUser = "is not an active user of this workspace";

function nameTaken(name: string): ProblemError {
  return new ProblemError("wrong_state", because("team_exists", { name }));
}

async function recordMembers(tx: Tx, actor: AuditActor, teamId: string, details: object): Promise<void> {
  await recordAudit(tx, actor, {
    action: "team_changed",
    subject: { type: "team", id: teamId },
    details: { ...details },
  });
}

async function lockTeam(tx: Tx, workspaceId: string, teamId: string): Promise<{ name: string }> {
  const team = await tx
    .selectFrom("teams")
    .select("name")
    .where("id", "=", teamId)
    .where("workspace_id", "=", workspaceId)
    .forUpdate()
    .executeTakeFirst();
  if (team === undefined) throw new ProblemError("not_found", `there is no team ${teamId} in this workspace`);
  return team;
}

/** Locks the recordings of a team in the order of their ids. @returns the ids. */
async function lockRecordingsOf(tx: Tx, teamId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from recordings
    where id in (select recording_id from recording_teams where team_id = ${teamId})
    order by id for update`.execute(tx);
  return rows.map(({ id }) => id);
}
