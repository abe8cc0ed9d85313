import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyBaseLogger } from "fastify";
import { type RawBuilder, sql } from "kysely";
import type { Tx } from "../db/database.ts";
import { prepared } from "../db/prepared.ts";
import type { Job, JobName, JobQueue } from "./define.ts";
import { heartbeatSeconds, restartStoppedJob, type StoppedJob, stoppedReason } from "./queries.ts";

export type { JobName, JobQueue } from "./define.ts";

/** Opens the queue. @param kinds every kind of job. */
export function openJobQueue(kinds: readonly Job[]): JobQueue {
  const listeners: (() => void)[] = [];
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  // What a request wakes is no part of the request, also not of its trace.
  const outsideOfRequests = AsyncLocalStorage.snapshot();
  return {
    kinds: byName,
    enqueue: (tx, name, data, key) => enqueueJob(tx, kindOf(byName, name), data, key),
    wake() {
      outsideOfRequests(() => {
        for (const listener of listeners) listener();
      });
    },
    onWake(listener) {
      listeners.push(listener);
    },
  };
}

function kindOf(kinds: ReadonlyMap<string, Job>, name: string): Job {
  const kind = kinds.get(name);
  if (kind === undefined) throw new Error(`server/jobs.ts lists no job ${name}`);
  return kind;
}

/** Makes a running job due after its start, by which `completeJob` knows that it was requested meanwhile. */
const requestAgain = sql`do update set due_at = clock_timestamp() where jobs.run_id is not null`;

/** Enqueues a job by its definition. */
export async function enqueueJob(
  tx: Tx,
  kind: Pick<Job, "name" | "owner" | "whileRunning">,
  data: object,
  key: string,
): Promise<void> {
  const { rows: owners } = (await kind.owner(data)?.execute(tx)) ?? { rows: [] };
  const [owner] = owners;
  const { rows: added } = await sql`
    insert into jobs (name, key, data, owner)
    values (${kind.name}, ${key}, ${JSON.stringify(data)}::jsonb,
      ${owner === undefined ? "" : `${owner.workspace_id}/${owner.user_id}`})
    on conflict (name, key) ${kind.whileRunning === "repeated" ? requestAgain : sql`do nothing`}
    returning name ${prepared}`.execute(tx);
  if (added.length === 0) await restartStoppedJob(tx, kind.name, key);
  await sql`select parley_work_added() ${prepared}`.execute(tx);
}

/** A condition: no job of this kind waits, runs or is stopped for the id. */
export function hasNoJob(name: JobName, id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`not exists (select 1 from jobs j where j.name = ${name} and j.key = ${id}::text)`;
}

/** Whether a job of this kind waits, runs or is stopped for the id. For sweeps: `enqueue` also restarts a stopped job. */
export async function hasJob(tx: Tx, name: JobName, id: string): Promise<boolean> {
  const { rows } = await sql<{ has_none: boolean }>`select ${hasNoJob(name, sql`${id}`)} as has_none`.execute(
    tx,
  );
  return rows[0]?.has_none === false;
}

/** A condition: a job of this kind was stopped for the id, because its process died twice while it ran. */
export function hasStoppedJob(name: JobName, id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select 1 from jobs j where j.name = ${name} and j.key = ${id}::text and j.is_stopped)`;
}

/** Whether a job with this key runs, and its worker is alive. */
export async function isAtWork(tx: Tx, name: JobName, key: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from jobs where name = ${name} and key = ${key} and run_id is not null
      and heartbeat_at + ${heartbeatSeconds} * interval '1 second' >= clock_timestamp()`.execute(tx);
  return rows.length > 0;
}

/** Says in the log which jobs were stopped. */
export function logStoppedJobs(log: Pick<FastifyBaseLogger, "error">, stopped: readonly StoppedJob[]): void {
  for (const { name, key } of stopped)
    log.error({ job: name, key }, `job stopped: ${stoppedReason}; see parley jobs list`);
}
