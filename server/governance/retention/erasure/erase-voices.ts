import { sql } from "kysely";
import { foldName } from "../../../../shared/fold-case.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { DataSubject } from "./data-subject.ts";

/**
 * Deletes a person's voice profiles: those with their email, and those with one of their names and no email.
 * @returns how many there were.
 */
export async function eraseVoices(
  tx: Tx,
  { workspaceId, email, names }: Pick<DataSubject, "workspaceId" | "email" | "names">,
): Promise<number> {
  const keys = new Set(names.map(foldName));
  const { rows } = await sql<{ id: string; name: string; is_theirs: boolean }>`
    select id, name, email is not null as is_theirs from voice_profiles
    where workspace_id = ${workspaceId} and (email is null or parley_lower(email) = parley_lower(${email}))
    order by id for update`.execute(tx);
  const ids = rows.filter(({ name, is_theirs }) => is_theirs || keys.has(foldName(name))).map(({ id }) => id);
  await sql`delete from voice_profiles where id = any(${ids}::uuid[])`.execute(tx);
  return ids.length;
}

/** A person's names in these recordings. */
export async function findNames(tx: Tx, recordingIds: readonly string[], email: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from participants
    where recording_id = any(${recordingIds}::uuid[]) and email_key = parley_lower(${email})`.execute(tx);
  return rows.map(({ name }) => name);
}
