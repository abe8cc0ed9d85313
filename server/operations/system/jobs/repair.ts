import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { Job } from "../../../platform/jobs/define.ts";
import { makeDue } from "../../../platform/jobs/queries.ts";
import { enqueueJob, type JobQueue } from "../../../platform/jobs/queue.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { findFailedJob } from "./queries.ts";

/** The id by which a failed job is retried and discarded. */
export function jobId({ kind, key }: { readonly kind: string; readonly key: string }): string {
  return `${kind}.${key}`;
}

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
}

/**
 * Whom to record, each in the audit log of their workspace.
 * @param workspaceId of the job; null: it belongs to none.
 */
type ActorsOf = (workspaceId: string | null) => readonly AuditActor[];

interface Named {
  readonly kind: Job;
  readonly key: string;
  readonly workspaceId: string | null;
  /** Whether it has failed for good: there is nothing left to end. */
  readonly hasEnded: boolean;
}

/**
 * Runs a failed job now.
 * @param actorsOf who asked for it.
 * @throws ProblemError `not_found` when there is no such failed job.
 */
export async function retryJob(deps: Dependencies, id: string, actorsOf: ActorsOf): Promise<void> {
  const { db, jobs } = deps;
  await db.kysely.transaction().execute(async (tx) => {
    const job = await findNamed(deps, tx, id);
    if (!(await makeDue(tx, job.kind.name, job.key))) {
      if (job.kind.restart === null) throw noSuchJob(id);
      await enqueueJob(tx, job.kind, await job.kind.restart(tx, job.key), job.key);
    }
    await audit(tx, actorsOf(job.workspaceId), "job_retried", job);
  });
  jobs.wake();
}

/**
 * Ends a failed job and what it was for, in one transaction.
 * @throws ProblemError `not_found` when there is no such failed job, `wrong_state` when it can't be discarded.
 */
export async function discardJob(deps: Dependencies, id: string, actorsOf: ActorsOf): Promise<void> {
  const finish = await deps.db.kysely.transaction().execute(async (tx) => {
    const job = await findNamed(deps, tx, id);
    const { kind, key } = job;
    if (typeof kind.discard === "string") throw new ProblemError("wrong_state", kind.discard);
    if (job.hasEnded) throw new ProblemError("wrong_state", because("job_stopped"));
    // Not while it runs: a job that has just been started is no longer in this state.
    const { rows } = await sql`
      delete from jobs where name = ${kind.name} and key = ${key} and run_id is null returning name`.execute(
      tx,
    );
    if (rows.length === 0 && kind.restart === null) throw noSuchJob(id);
    await audit(tx, actorsOf(job.workspaceId), "job_discarded", job);
    return (await kind.discard.end?.(tx, deps, key)) ?? null;
  });
  await finish?.();
}

async function findNamed({ jobs }: Dependencies, tx: Tx, id: string): Promise<Named> {
  const [name = "", key = ""] = id.split(".", 2);
  const kind = jobs.kinds.get(name);
  const found = kind && (await findFailedJob(tx, name, key));
  if (kind === undefined || found === undefined) throw noSuchJob(id);
  const { workspace_id: workspaceId, next_at, is_queued } = found;
  return { kind, key, workspaceId, hasEnded: next_at === null && !is_queued };
}

function noSuchJob(id: string): ProblemError {
  return new ProblemError("not_found", because("failed_job_gone", { id }));
}

async function audit(
  tx: Tx,
  actors: readonly AuditActor[],
  action: "job_retried" | "job_discarded",
  { kind, key }: Named,
): Promise<void> {
  for (const actor of actors)
    await recordAudit(tx, actor, {
      action,
      subject: { type: kind.subject, id: key === "" ? null : key },
      details: { kind: kind.name },
    });
}
