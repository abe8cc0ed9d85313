import { type SqlBool, sql } from "kysely";
import type { Role } from "../../../platform/auth/principal.ts";
import type { Executor } from "../../../platform/db/database.ts";
import type { Attribute, Attributes, Condition } from "../query/filter.ts";

/** A user as SCIM shows them. */
export interface ScimUserRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly external_id: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
  readonly is_active: boolean;
  readonly created_at: Date;
  /** The teams that SCIM manages. */
  readonly groups: readonly { readonly id: string; readonly name: string }[];
}

/** Users that SCIM hides: it deleted them, and no one has reactivated them since. */
export const isShown: Condition = sql`(u.deactivated_at is null or u.scim_deleted_at is null)`;

const isUuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A condition that a column of UUIDs equals a text, which an index can find. */
export function equalsUuid(column: Condition | ReturnType<typeof sql<string>>, value: string): Condition {
  return isUuid.test(value) ? sql`(${column} = ${value}::uuid)` : sql`false`;
}

const email = {
  kind: "text",
  column: sql<string>`u.email`,
  equals: (value: string) => sql<SqlBool>`(u.email_key = parley_lower(${value}::text))`,
} as const;

const inGroup = {
  kind: "reference",
  equals: (value: string) =>
    sql<SqlBool>`exists (select from team_members m join teams t on t.id = m.team_id
      where m.user_id = u.id and t.is_provisioned and ${equalsUuid(sql<string>`t.id`, value)})`,
} as const;

/** The attributes of users that filters can name. */
export const userAttributes: Attributes = new Map<string, Attribute>([
  ["id", { kind: "reference", equals: (value: string) => equalsUuid(sql<string>`u.id`, value) }],
  ["externalid", { kind: "exact", column: sql<string | null>`u.external_id` }],
  ["username", email],
  ["emails", email],
  ["emails.value", email],
  ["emails.type", { kind: "constant", value: "work" }],
  ["emails.primary", { kind: "constant", value: "true" }],
  ["displayname", { kind: "text", column: sql<string>`u.name` }],
  ["name.givenname", { kind: "text", column: sql<string | null>`u.given_name` }],
  ["name.familyname", { kind: "text", column: sql<string | null>`u.family_name` }],
  ["active", { kind: "boolean", column: sql<SqlBool>`u.deactivated_at is null` }],
  ["groups", inGroup],
  ["groups.value", inGroup],
  ["meta.created", { kind: "time", column: sql<Date>`u.created_at` }],
  ["meta.resourcetype", { kind: "constant", value: "User" }],
]);

const columns = sql`
  u.id, u.email, u.name, u.role, u.external_id, u.given_name, u.family_name, u.deactivated_at is null as is_active,
  u.created_at,
  coalesce((select json_agg(json_build_object('id', t.id, 'name', t.name) order by t.id)
    from team_members m join teams t on t.id = m.team_id
    where m.user_id = u.id and t.is_provisioned), '[]') as groups`;

/** How many users of the workspace fulfil a condition. */
export async function countScimUsers(db: Executor, workspaceId: string, where: Condition): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from users u
    where u.workspace_id = ${workspaceId} and ${isShown} and ${where}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Users of the workspace in the order in which they were created. */
export async function findScimUsers(
  db: Executor,
  workspaceId: string,
  where: Condition,
  page: { readonly offset: number; readonly limit: number },
): Promise<ScimUserRow[]> {
  if (page.limit === 0) return [];
  const { rows } = await sql<ScimUserRow>`
    select ${columns} from users u
    where u.id = any(array(
      select u.id from users u
      where u.workspace_id = ${workspaceId} and ${isShown} and ${where}
      order by u.id offset ${page.offset} limit ${page.limit}))
    order by u.id`.execute(db);
  return rows;
}

/** One user of the workspace that SCIM shows. */
export async function findScimUser(
  db: Executor,
  workspaceId: string,
  id: string,
): Promise<ScimUserRow | undefined> {
  const where = equalsUuid(sql<string>`u.id`, id);
  return (await findScimUsers(db, workspaceId, where, { offset: 0, limit: 1 }))[0];
}
