import { randomUUID } from "node:crypto";
import type { TestApp } from "../../../../test/support/app.ts";
import type { JobName } from "../../../platform/jobs/queue.ts";

/**
 * Adds a job whose third attempt has failed and whose next one is an hour away, as the queue leaves it.
 * @returns its id in the API.
 */
export async function insertFailedJob(
  { db }: Pick<TestApp, "db">,
  kind: JobName = "send_mail",
  key: string = randomUUID(),
  data: object = { encrypted: "" },
): Promise<string> {
  await db.pool.query("delete from jobs where name = $1 and key = $2", [kind, key]);
  await db.pool.query(
    `insert into jobs (name, key, data, attempts, error, due_at)
     values ($1, $2, $3, 3, 'no route to host', now() + interval '1 hour')`,
    [kind, key, data],
  );
  return `${kind}.${key}`;
}
