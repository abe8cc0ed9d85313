import { sql } from "kysely";
import type { Violation } from "../../../contract/errors.ts";
import { splitMentions } from "../../../shared/mentions.ts";
import type { Tx } from "../../platform/db/database.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

const mention = /@([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})/g;

/** The text to store: each `@` with the full name of a mentioned user becomes `@` and the id. */
export function encodeMentions(text: string, mentioned: readonly Named[]): string {
  return splitMentions(text, mentioned)
    .map((part) => (typeof part === "string" ? part : `@${part.id}`))
    .join("");
}

/** A stored text as users read it. */
export function decodeMentions(text: string, mentioned: readonly Named[]): string {
  const names = new Map(mentioned.map(({ id, name }) => [id, name]));
  return text.replace(mention, (token: string, id: string) => {
    const name = names.get(id);
    return name === undefined ? token : `@${name}`;
  });
}

/**
 * The users to mention.
 * @param before users that the comment mentions already; they may have lost access since.
 * @throws ProblemError `invalid_input` for each one who can't see the recording.
 */
export async function findMentioned(
  tx: Tx,
  recording: { readonly id: string; readonly workspace_id: string },
  mentions: readonly string[],
  before: ReadonlySet<string> = new Set(),
): Promise<Named[]> {
  const userIds = mentions.map((id) => id.toLowerCase());
  const { rows } = await sql<Named & { is_active: boolean; can_see: boolean }>`
    select u.id, u.name, u.deactivated_at is null as is_active, exists (
      select 1 from recording_grants g where g.recording_id = ${recording.id}
        and g.principal_id = any(parley_principals(u.id, w.members_id))) as can_see
    from users u join workspaces w on w.id = u.workspace_id
    where u.workspace_id = ${recording.workspace_id} and u.id = any(${userIds}::uuid[])`.execute(tx);
  const found = new Map(rows.map((row) => [row.id, row]));
  const violations: Violation[] = userIds.flatMap((id, index) => {
    if (before.has(id)) return [];
    const user = found.get(id);
    if (user?.is_active && user.can_see) return [];
    const detail = user?.is_active
      ? "is a user who can't see the recording; share it with them first"
      : "is not an active user of this workspace; see List Users";
    return [{ pointer: `/mentions/${index}`, detail }];
  });
  if (violations.length > 0) throw invalidInput(violations);
  return rows;
}
