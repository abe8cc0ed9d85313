import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import {
  type createMeetingType as createOperation,
  type ManagedMeetingType,
  maxMeetingTypes,
  type updateMeetingType as updateOperation,
} from "../../../contract/workspace/meeting-types.ts";
import { languageOf } from "../../../contract/workspace/spoken-language.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Executor, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { recordEvent } from "../events/record-event.ts";

type MeetingTypeOutput = z.input<typeof ManagedMeetingType>;

/** All meeting types of a workspace in order, or one of them, with their number of recordings. */
export async function findManagedMeetingTypes(
  db: Executor,
  workspaceId: string,
  id: string | null = null,
): Promise<MeetingTypeOutput[]> {
  const { rows } = await sql<MeetingTypeOutput>`
    select m.id, m.name, m.scope, m.is_default, m.spoken_language, m.vocabulary,
      (select count(*)::integer from recordings r where r.meeting_type_id = m.id and not exists (
        select 1 from trashed_recordings t where t.recording_id = r.id)) as recordings
    from meeting_types m
    where m.workspace_id = ${workspaceId} and (${id}::uuid is null or m.id = ${id}::uuid)
    order by m.position, m.id`.execute(db);
  return rows;
}

/** Runs a change to the meeting types of a workspace, one at a time, so that names stay unique and defaults single. */
async function change<T>(
  db: Database,
  principal: Principal,
  apply: (tx: Tx, types: readonly MeetingTypeOutput[]) => Promise<T>,
): Promise<T> {
  return db.kysely.transaction().execute(async (tx) => {
    await sql`
      select pg_advisory_xact_lock(hashtextextended(${`meeting_types:${principal.workspaceId}`}, 0))`.execute(
      tx,
    );
    return apply(tx, await findManagedMeetingTypes(tx, principal.workspaceId));
  });
}

/** Adds a meeting type after the others. */
export function createMeetingType(
  db: Database,
  principal: Principal,
  input: z.output<(typeof createOperation)["body"]>,
): Promise<MeetingTypeOutput> {
  return change(db, principal, async (tx, types) => {
    if (types.length >= maxMeetingTypes)
      throw new ProblemError("wrong_state", because("meeting_type_limit", { limit: types.length }));
    await refuseTakenName(tx, principal.workspaceId, input.name, null);
    const id = randomUUIDv7();
    await sql`
      insert into meeting_types (id, workspace_id, name, scope, spoken_language, vocabulary, position)
      select ${id}, ${principal.workspaceId}, ${input.name}, ${input.scope}, ${languageOf(input.spoken_language ?? "auto")},
        ${input.vocabulary ?? []}::text[], coalesce(max(position) + 1, 0)
      from meeting_types where workspace_id = ${principal.workspaceId}`.execute(tx);
    if (input.is_default) await makeDefault(tx, principal.workspaceId, id);
    return read(tx, principal.workspaceId, id);
  });
}

/** Changes a meeting type, or makes it the default of its scope. */
export function updateMeetingType(
  db: Database,
  principal: Principal,
  id: string,
  input: z.output<(typeof updateOperation)["body"]>,
): Promise<MeetingTypeOutput> {
  return change(db, principal, async (tx, types) => {
    const type = mustFind(types, id);
    if (input.scope !== undefined && input.scope !== type.scope && type.is_default)
      throw new ProblemError(
        "wrong_state",
        because("default_meeting_type", { name: type.name, scope: type.scope }),
      );
    if (input.name !== undefined) await refuseTakenName(tx, principal.workspaceId, input.name, id);
    await tx
      .updateTable("meeting_types")
      .set({
        name: input.name ?? type.name,
        scope: input.scope ?? type.scope,
        ...(input.spoken_language === undefined
          ? {}
          : { spoken_language: languageOf(input.spoken_language) }),
        ...(input.vocabulary === undefined ? {} : { vocabulary: input.vocabulary }),
      })
      .where("id", "=", id)
      .execute();
    if (input.is_default) await makeDefault(tx, principal.workspaceId, id);
    return read(tx, principal.workspaceId, id);
  });
}

/**
 * Deletes a meeting type.
 * @param reassignTo the new type of recordings that have it.
 * @throws ProblemError `wrong_state` for the default of a scope, and for one in use without `reassignTo`.
 */
export function deleteMeetingType(
  db: Database,
  principal: Principal,
  id: string,
  reassignTo: string | undefined,
): Promise<{ success: true }> {
  return change(db, principal, async (tx, types) => {
    const type = mustFind(types, id);
    if (reassignTo === id || (reassignTo && !types.some((other) => other.id === reassignTo)))
      throw invalidInput([
        { pointer: "/reassign_to", detail: "must be another meeting type of this workspace" },
      ]);
    if (type.is_default)
      throw new ProblemError(
        "wrong_state",
        because("default_meeting_type", { name: type.name, scope: type.scope }),
      );
    // Locked, so that no recording gets it from now on.
    await sql`select id from meeting_types where id = ${id} for update`.execute(tx);
    const { rows } = await sql<{ id: string }>`
      select id from recordings where meeting_type_id = ${id} order by id for update`.execute(tx);
    if (rows.length > 0 && reassignTo === undefined)
      throw new ProblemError(
        "wrong_state",
        because("meeting_type_used", { count: rows.length, name: type.name }),
      );
    await reassign(
      tx,
      principal.workspaceId,
      rows.map((row) => row.id),
      reassignTo ?? null,
    );
    await tx.deleteFrom("meeting_types").where("id", "=", id).execute();
    return { success: true };
  });
}

async function reassign(
  tx: Tx,
  workspaceId: string,
  recordingIds: readonly string[],
  to: string | null,
): Promise<void> {
  if (recordingIds.length === 0) return;
  await sql`
    update recordings set meeting_type_id = ${to}::uuid, updated_at = clock_timestamp()
    where id = any(${recordingIds}::uuid[])`.execute(tx);
  for (const subjectId of recordingIds)
    await recordEvent(tx, { workspaceId, type: "recording_updated", subjectId, data: {} });
}

async function makeDefault(tx: Tx, workspaceId: string, id: string): Promise<void> {
  await sql`
    update meeting_types set is_default = false
    where workspace_id = ${workspaceId} and is_default and id <> ${id}
      and scope = (select scope from meeting_types where id = ${id})`.execute(tx);
  await sql`update meeting_types set is_default = true where id = ${id}`.execute(tx);
}

/** Names are compared ignoring case and accents. */
async function refuseTakenName(
  tx: Tx,
  workspaceId: string,
  name: string,
  ownId: string | null,
): Promise<void> {
  const { rows } = await sql`
    select 1 from meeting_types
    where workspace_id = ${workspaceId} and name_key = parley_fold(${name}) and id is distinct from ${ownId}::uuid`.execute(
    tx,
  );
  if (rows.length > 0)
    throw invalidInput([{ pointer: "/name", detail: "is the name of another meeting type" }]);
}

function mustFind(types: readonly MeetingTypeOutput[], id: string): MeetingTypeOutput {
  const type = types.find((other) => other.id === id);
  if (type === undefined)
    throw new ProblemError("not_found", `there is no meeting type ${id} in this workspace`);
  return type;
}

async function read(tx: Tx, workspaceId: string, id: string): Promise<MeetingTypeOutput> {
  const [type] = await findManagedMeetingTypes(tx, workspaceId, id);
  if (type === undefined) throw new Error(`meeting type ${id} was just written`);
  return type;
}
