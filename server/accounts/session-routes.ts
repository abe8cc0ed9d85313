import { getSession } from "../../contract/session.ts";
import type { Database } from "../db/database.ts";
import { type Api, route } from "../http/route.ts";

export function sessionRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, getSession, async ({ principal }) => {
    const row = await db.kysely
      .selectFrom("users")
      .innerJoin("workspaces", "workspaces.id", "users.workspace_id")
      .select([
        "users.id",
        "users.name",
        "email",
        "role",
        "workspaces.id as workspace_id",
        "workspaces.name as workspace_name",
      ])
      .where("users.id", "=", principal.userId)
      .executeTakeFirstOrThrow();
    return {
      user: { id: row.id, name: row.name, email: row.email, role: principal.role },
      workspace: { id: row.workspace_id, name: row.workspace_name },
    };
  });
}
