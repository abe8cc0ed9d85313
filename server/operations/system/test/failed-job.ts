import { randomUUID } from "node:crypto";
import type { TestApp } from "../../../../test/support/app.ts";
import type { JobName } from "../../../platform/jobs/queue.ts";

/**
 * Adds a job whose third attempt has failed and whose next one is an hour away, as the queue leaves it.
 * @returns its id in the API.
 */
export async function insertFailedJob(
  { db, jobs }: Pick<TestApp, "db" | "jobs">,
  kind: JobName = "send_mail",
  key: string = randomUUID(),
  data: object = { encrypted: "" },
): Promise<string> {
  await db.pool.query("delete from pgboss.job where name = $1 and singleton_key = $2", [kind, key]);
  await jobs.boss.send(kind, data, { singletonKey: key, startAfter: 3600 });
  const { rowCount } = await db.pool.query(
    `update pgboss.job set state = 'retry', retry_count = 2, output = '{"message":"no route to host"}',
       start_after = now() + interval '1 hour'
     where name = $1 and singleton_key = $2`,
    [kind, key],
  );
  if (rowCount !== 1) throw new Error(`${rowCount} jobs were added`);
  return `${kind}.${key}`;
}
