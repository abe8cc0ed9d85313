import { sql } from "kysely";
import type { Compatibility, DatetimeFilters } from "../../../../contract/common.ts";
import type { Executor } from "../../../platform/db/database.ts";
import type { PageQuery, Position } from "../../../platform/http/page.ts";
import type { ClientRow } from "./queries.ts";

/** The clients of a workspace, newest first. */
export function listClients(
  db: Executor,
  workspaceId: string,
  { after, limit }: PageQuery<Position>,
): Promise<ClientRow[]> {
  return db
    .selectFrom("oauth_clients")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) < (${after?.at}, ${after?.id}::uuid)`),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
}

/** A grant as its owner sees it. */
export interface GrantRow {
  readonly id: string;
  readonly user_id: string;
  readonly client_id: string;
  readonly client_name: string;
  readonly self_registered: boolean;
  readonly metadata_url: string | null;
  readonly redirect_uris: string[];
  readonly created_at: Date;
  readonly last_used_at: Date;
  readonly families: number;
  /** Null: as the server is set. */
  readonly datetime_filters: DatetimeFilters | null;
  readonly compatibility: Compatibility | null;
}

/** Whose grants: one user's, or those of all users of a workspace. */
export type GrantOwner = { readonly userId: string } | { readonly workspaceId: string };

/** The apps that a user, or the users of a workspace, have authorized, newest first. */
export function listGrants(
  db: Executor,
  by: GrantOwner,
  { after, limit }: PageQuery<Position>,
): Promise<GrantRow[]> {
  return selectGrants(db)
    .$call((query) =>
      "userId" in by
        ? query.where("g.user_id", "=", by.userId)
        : query.where("g.user_id", "in", (eb) =>
            eb.selectFrom("users").select("id").where("workspace_id", "=", by.workspaceId),
          ),
    )
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(g.created_at, g.id) < (${after?.at}, ${after?.id}::uuid)`),
    )
    .orderBy("g.created_at", "desc")
    .orderBy("g.id", "desc")
    .limit(limit)
    .execute();
}

/** A grant that exists. */
export function getGrant(db: Executor, id: string): Promise<GrantRow> {
  return selectGrants(db).where("g.id", "=", id).executeTakeFirstOrThrow();
}

function selectGrants(db: Executor) {
  return db
    .selectFrom("oauth_grants as g")
    .innerJoin("oauth_clients as c", "c.id", "g.client_id")
    .select(["g.id", "g.user_id", "g.client_id", "c.name as client_name", "g.created_at", "g.last_used_at"])
    .select(["c.metadata_url", "c.redirect_uris"])
    .select(sql<boolean>`c.workspace_id is null`.as("self_registered"))
    .select(sql<number>`(select count(*)::int from oauth_families f where f.grant_id = g.id)`.as("families"))
    .select((eb) => eb.fn.coalesce("g.datetime_filters", "c.datetime_filters").as("datetime_filters"))
    .select((eb) => eb.fn.coalesce("g.compatibility", "c.compatibility").as("compatibility"));
}

/** Whether a user belongs to a workspace. */
export async function isUserOf(db: Executor, workspaceId: string, userId: string): Promise<boolean> {
  const found = await db
    .selectFrom("users")
    .select("id")
    .where("id", "=", userId)
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return found !== undefined;
}
