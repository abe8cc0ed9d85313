import { sql } from "kysely";
import type { z } from "zod";
import type { System } from "../../../contract/system.ts";
import type { Executor } from "../../platform/db/database.ts";

const maxUploads = 20;
const listedFor = "7 days";

interface Row {
  readonly id: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly stage: string | null;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly bytes: string | null;
  readonly container: string | null;
  readonly failed_at: Date;
}

/** The uploads that failed lately, the latest first. */
export async function findFailedUploads(db: Executor): Promise<z.input<typeof System>["failed_uploads"]> {
  const { rows } = await sql<Row>`
    select u.id, w.id as workspace_id, w.name as workspace_name, u.failure_stage as stage, u.failure_reason as reason,
      u.failure_detail as detail, u.failure_bytes as bytes, u.failure_container as container,
      u.updated_at as failed_at
    from uploads u join workspaces w on w.id = u.workspace_id
    where u.status = 'failure' and u.updated_at > now() - interval '${sql.raw(listedFor)}'
    order by u.updated_at desc limit ${maxUploads}`.execute(db);
  return rows.map(({ workspace_id, workspace_name, bytes, failed_at, stage, reason, ...row }) => ({
    ...row,
    workspace: { id: workspace_id, name: workspace_name },
    // Uploads that failed before the stage was stored.
    stage: stage ?? "unknown",
    reason: reason ?? "the upload failed",
    bytes: bytes === null ? null : Number(bytes),
    failed_datetime: failed_at.toISOString(),
  }));
}
