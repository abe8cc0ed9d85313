import { type SqlBool, sql } from "kysely";
import type { Executor } from "../../../platform/db/database.ts";
import type { Attribute, Attributes, Condition } from "../query/filter.ts";
import { equalsUuid, isShown } from "../users/user-rows.ts";

/** A team that SCIM manages. */
export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly external_id: string | null;
  readonly created_at: Date;
  /** A hash of the ids of its members. */
  readonly members_hash: string;
  /** Null: not read. */
  readonly members: readonly { readonly id: string; readonly name: string }[] | null;
}

const hasMember = {
  kind: "reference",
  equals: (value: string) =>
    sql<SqlBool>`exists (select from team_members m join users u on u.id = m.user_id
      where m.team_id = t.id and ${isShown} and ${equalsUuid(sql<string>`u.id`, value)})`,
} as const;

/** The attributes of groups that filters can name. */
export const groupAttributes: Attributes = new Map<string, Attribute>([
  ["id", { kind: "reference", equals: (value: string) => equalsUuid(sql<string>`t.id`, value) }],
  ["externalid", { kind: "exact", column: sql<string | null>`t.external_id` }],
  [
    "displayname",
    {
      kind: "text",
      column: sql<string>`t.name`,
      // The key, which has no accents either, finds the row by its index.
      equals: (value: string) =>
        sql<SqlBool>`(t.name_key = parley_fold(${value}::text) and parley_lower(t.name) = parley_lower(${value}::text))`,
    },
  ],
  ["members", hasMember],
  ["members.value", hasMember],
  ["meta.created", { kind: "time", column: sql<Date>`t.created_at` }],
  ["meta.resourcetype", { kind: "constant", value: "Group" }],
]);

/** How many of the workspace's groups fulfil a condition. */
export async function countGroups(db: Executor, workspaceId: string, where: Condition): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from teams t
    where t.workspace_id = ${workspaceId} and t.is_provisioned and ${where}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Members on a page of groups, unless its first group has more. */
const maxMembers = 20_000;

/** Groups of the workspace in the order in which they were created: with members, maybe fewer than the limit. */
export async function findGroups(
  db: Executor,
  workspaceId: string,
  where: Condition,
  page: { readonly offset: number; readonly limit: number; readonly withMembers: boolean },
): Promise<GroupRow[]> {
  if (page.limit === 0) return [];
  const ids = sql`
    select t.id from teams t
    where t.workspace_id = ${workspaceId} and t.is_provisioned and ${where}
    order by t.id offset ${page.offset} limit ${page.limit}`;
  const idsOfPage = page.withMembers
    ? sql`
      select id from (
        select t.id, row_number() over (order by t.id) as position,
          sum((select count(*) from team_members m where m.team_id = t.id)) over (order by t.id) as members
        from (${ids}) t) counted
      where position = 1 or members <= ${maxMembers}`
    : ids;
  const { rows } = await sql<GroupRow>`
    select t.id, t.name, t.external_id, t.created_at, of_team.members_hash, of_team.members
    from teams t
    cross join lateral (
      select md5(coalesce(string_agg(u.id::text, ',' order by u.id), '')) as members_hash,
        case when ${page.withMembers}::boolean
          then coalesce(json_agg(json_build_object('id', u.id, 'name', u.name) order by u.id), '[]') end as members
      from team_members m join users u on u.id = m.user_id
      where m.team_id = t.id and ${isShown}) of_team
    where t.id = any(array(${idsOfPage}))
    order by t.id`.execute(db);
  return rows.map((row) => ({
    ...row,
    members: page.withMembers && row.members === null ? [] : row.members,
  }));
}

/** One group of the workspace. */
export async function findGroup(
  db: Executor,
  workspaceId: string,
  id: string,
  withMembers: boolean,
): Promise<GroupRow | undefined> {
  const where = equalsUuid(sql<string>`t.id`, id);
  return (await findGroups(db, workspaceId, where, { offset: 0, limit: 1, withMembers }))[0];
}
