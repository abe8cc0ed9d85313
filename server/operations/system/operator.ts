import { because } from "../../../contract/causes/causes.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";

/**
 * Whether the admins of a workspace see the state of the whole installation, which includes names and figures of other
 * workspaces: only those of the operator's workspace do.
 */
async function isOperatorWorkspace({ pool }: Pick<Database, "pool">, workspaceId: string): Promise<boolean> {
  const { rows } = await pool.query({
    name: "is_operator_workspace",
    text: "select 1 from installation where operator_workspace_id = $1",
    values: [workspaceId],
  });
  return rows.length > 0;
}

/** The operator's workspace; null: none was named. */
export async function readOperatorWorkspace({
  pool,
}: Pick<Database, "pool">): Promise<{ readonly id: string; readonly name: string } | null> {
  const { rows } = await pool.query<{ id: string; name: string }>(
    "select w.id, w.name from installation i join workspaces w on w.id = i.operator_workspace_id",
  );
  return rows[0] ?? null;
}

/** Whether a caller sees the System page. */
export async function managesSystem(
  db: Pick<Database, "pool">,
  { role, workspaceId }: Pick<Principal, "role" | "workspaceId">,
): Promise<boolean> {
  return role === "admin" && (await isOperatorWorkspace(db, workspaceId));
}

/** @throws ProblemError `forbidden` for admins of other workspaces. */
export async function refuseOtherWorkspaces(
  db: Pick<Database, "pool">,
  { workspaceId }: Pick<Principal, "workspaceId">,
): Promise<void> {
  if (!(await isOperatorWorkspace(db, workspaceId)))
    throw new ProblemError("forbidden", because("operator_only"));
}
