import { sql } from "kysely";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Tx } from "../../../platform/db/database.ts";
import { createTeam, deleteTeam, renameTeam } from "../../accounts/teams/teams.ts";
import { checkVersion, notFound } from "../resource.ts";
import { invalidValue, ScimError } from "../scim-error.ts";
import type { ChangeContext } from "../users/change-users.ts";
import { isShown } from "../users/user-rows.ts";
import type { GroupChange } from "./group-change.ts";
import { findGroup, type GroupRow } from "./group-rows.ts";
import { presentGroup } from "./present-group.ts";

/** Ids that one entry of the audit log lists. */
const maxListed = 100;

const isUuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Creates a team that SCIM manages. @throws ScimError `uniqueness`, `invalidValue`. */
export async function createGroup(
  tx: Tx,
  { actor }: ChangeContext,
  given: GroupChange & { readonly displayName: string },
): Promise<GroupRow> {
  await refuseTaken(tx, actor, given.displayName, null);
  const id = await createTeam(tx, actor, { name: given.displayName, memberIds: [] });
  await tx
    .updateTable("teams")
    .set({ is_provisioned: true, external_id: given.externalId ?? null })
    .where("id", "=", id)
    .execute();
  await changeMembers(tx, actor, id, given);
  return readGroup(tx, actor, id);
}

/** Changes a team that SCIM manages. @throws ScimError 404, 412, `uniqueness`, `invalidValue`. */
export async function changeGroup(
  tx: Tx,
  { actor, baseUrl, ifMatch }: ChangeContext,
  id: string,
  change: GroupChange,
): Promise<void> {
  await lockGroup(tx, actor, id);
  const before = await readGroup(tx, actor, id);
  checkVersion(ifMatch, presentGroup(before, baseUrl));
  if (change.displayName !== undefined && change.displayName !== before.name) {
    await refuseTaken(tx, actor, change.displayName, before.id);
    await renameTeam(tx, actor, before.id, change.displayName);
  }
  if (change.externalId !== undefined && change.externalId !== before.external_id)
    await tx
      .updateTable("teams")
      .set({ external_id: change.externalId })
      .where("id", "=", before.id)
      .execute();
  await changeMembers(tx, actor, before.id, change);
}

/** Deletes a team that SCIM manages, and its shares. @throws ScimError 404, 412. */
export async function deleteGroup(
  tx: Tx,
  { actor, baseUrl, ifMatch }: ChangeContext,
  id: string,
): Promise<void> {
  const before = await readGroup(tx, actor, id);
  checkVersion(ifMatch, presentGroup(before, baseUrl));
  await deleteTeam(tx, actor, before.id);
}

async function lockGroup(tx: Tx, actor: AuditActor, id: string): Promise<void> {
  if (!isUuid.test(id.toLowerCase())) throw notFound("group", id);
  await sql`
    select from teams where id = ${id} and workspace_id = ${actor.workspaceId} for no key update`.execute(tx);
}

async function readGroup(tx: Tx, actor: AuditActor, id: string): Promise<GroupRow> {
  const row = await findGroup(tx, actor.workspaceId, id, false);
  if (row === undefined) throw notFound("group", id);
  return row;
}

/** @throws ScimError when another team has the name: also one that people made, which SCIM must not take over. */
async function refuseTaken(tx: Tx, actor: AuditActor, name: string, except: string | null): Promise<void> {
  const { rows } = await sql<{ is_provisioned: boolean }>`
    select is_provisioned from teams
    where workspace_id = ${actor.workspaceId} and name_key = parley_fold(${name})
      and id is distinct from ${except}::uuid`.execute(tx);
  const [taken] = rows;
  if (taken === undefined) return;
  throw new ScimError(
    409,
    taken.is_provisioned
      ? `a group named ${name} already exists`
      : `a team named ${name} was created in Parley; rename or delete it there first`,
    "uniqueness",
  );
}

async function changeMembers(
  tx: Tx,
  actor: AuditActor,
  teamId: string,
  { members }: GroupChange,
): Promise<void> {
  const wanted = [...members.added];
  await refuseUnknown(tx, actor, wanted);
  const { rows: removed } = await sql<{ user_id: string }>`
    delete from team_members where team_id = ${teamId} and (
      (${!members.keepsOthers}::boolean and not user_id = any(${wanted}::uuid[]))
      or user_id = any(${[...members.removed].filter((id) => isUuid.test(id))}::uuid[]))
    returning user_id`.execute(tx);
  const { rows: added } = await sql<{ user_id: string }>`
    insert into team_members (team_id, user_id)
    select ${teamId}::uuid, id from unnest(${wanted}::uuid[]) as given (id)
    on conflict do nothing returning user_id`.execute(tx);
  if (removed.length + added.length === 0) return;
  await recordAudit(tx, actor, {
    action: "team_changed",
    subject: { type: "team", id: teamId },
    details: { ...listed("added", added), ...listed("removed", removed) },
  });
}

function listed(name: string, rows: readonly { readonly user_id: string }[]): object {
  if (rows.length === 0) return {};
  const ids = rows.slice(0, maxListed).map((row) => row.user_id);
  return { [name]: ids, ...(rows.length > maxListed ? { [`${name}_count`]: rows.length } : {}) };
}

/** @throws ScimError when one of the ids isn't a user that SCIM shows: a patch is applied whole or not at all. */
async function refuseUnknown(tx: Tx, actor: AuditActor, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { rows } = await sql<{ id: string }>`
    select u.id from users u
    where u.workspace_id = ${actor.workspaceId} and ${isShown}
      and u.id = any(${ids.filter((id) => isUuid.test(id))}::uuid[])
    for key share`.execute(tx);
  const known = new Set(rows.map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined)
    throw invalidValue(`member ${unknown.slice(0, 100)} is not a user here; groups can't be members`);
}
