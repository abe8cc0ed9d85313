import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import type { Person } from "./data-subject.ts";
import { nameKey } from "./erase-uploads.ts";

/**
 * Deletes a person's voice profiles: those with their email, and those with one of their names and no email.
 * @returns how many there were.
 */
export async function eraseVoices(
  tx: Tx,
  { workspaceId, email }: Pick<Person, "workspaceId" | "email">,
  names: ReadonlySet<string>,
): Promise<number> {
  const { rows } = await sql<{ id: string; name: string; is_theirs: boolean }>`
    select id, name, email is not null as is_theirs from voice_profiles
    where workspace_id = ${workspaceId} and (email is null or lower(email) = lower(${email}))
    order by id for update`.execute(tx);
  const ids = rows.filter(({ name, is_theirs }) => is_theirs || names.has(nameKey(name))).map(({ id }) => id);
  await sql`delete from voice_profiles where id = any(${ids}::uuid[])`.execute(tx);
  return ids.length;
}
