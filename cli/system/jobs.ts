import { Command } from "commander";
import { jobKinds } from "../../server/jobs.ts";
import { findFailedJobs, findFailedKeys } from "../../server/operations/system/jobs/queries.ts";
import { discardJob, jobId, retryJob } from "../../server/operations/system/jobs/repair.ts";
import { readOperatorWorkspace } from "../../server/operations/system/operator.ts";
import { presentFailedJob } from "../../server/operations/system/overview.ts";
import { commandLine } from "../../server/platform/audit/record.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { type JobQueue, openJobQueue } from "../../server/platform/jobs/queue.ts";
import { i18nFor } from "../../server/platform/language/i18n.ts";
import type { ObjectStore } from "../../server/platform/storage/store.ts";
import { AmbiguousError } from "../support/errors.ts";
import { printTable } from "../support/print-table.ts";
import { withDatabase } from "../support/with-database.ts";
import { withStore } from "../support/with-store.ts";

interface Options {
  json?: boolean;
  all?: boolean;
  kind?: string;
}

type Repair = typeof retryJob;

/** `parley jobs list`, `retry` and `discard` */
export function jobsCommand(command: Command): Command {
  const list = new Command("list")
    .description("list failed jobs, at most 100: id, attempts, next attempt, error")
    .option("--json", "print the result as a JSON array")
    .action(listFailed);
  return command
    .addCommand(list)
    .addCommand(repairCommand("retry", "run failed jobs now instead of at their next attempt", retryJob))
    .addCommand(
      repairCommand("discard", "end failed jobs: their uploads, transcriptions or emails fail", discardJob),
    );
}

async function listFailed(options: Options): Promise<void> {
  const english = await i18nFor(null);
  const { kinds } = openJobQueue(jobKinds);
  const jobs = await withDatabase(async (db) =>
    (await findFailedJobs(db.kysely)).map((row) => presentFailedJob(kinds, row, english)),
  );
  if (options.json) process.stdout.write(`${JSON.stringify(jobs)}\n`);
  else if (jobs.length === 0) console.error("no job has failed");
  else
    printTable(
      jobs.map((job) => [job.id, String(job.attempts), job.next_attempt_datetime ?? "stopped", job.error]),
    );
}

function repairCommand(name: "retry" | "discard", description: string, repair: Repair): Command {
  return new Command(name)
    .description(description)
    .argument("[id...]", "ids of failed jobs, as `parley jobs list` prints them")
    .option("--all", "every failed job")
    .option("--kind <kind>", "every failed job of a kind, such as promote_media")
    .option("--json", "print the ids as a JSON array")
    .action(async (ids: string[], options: Options) => {
      if (ids.length === 0 && !options.all && options.kind === undefined)
        throw new AmbiguousError(`name jobs to ${name}, or use --all or --kind`);
      const done = await withStore(async (db, store) => {
        return await repairAll({ db, store, jobs: openJobQueue(jobKinds) }, ids, options, repair);
      });
      if (options.json) process.stdout.write(`${JSON.stringify(done)}\n`);
      else for (const id of done) process.stdout.write(`${id}\n`);
      console.error(`${name === "retry" ? "retried" : "discarded"} ${done.length} of the failed jobs`);
    });
}

/** @returns the ids of the jobs. Those named must exist; others may have succeeded meanwhile. */
async function repairAll(
  deps: { readonly db: Database; readonly store: ObjectStore; readonly jobs: JobQueue },
  ids: readonly string[],
  { all, kind }: Options,
  repair: Repair,
): Promise<string[]> {
  const operator = await readOperatorWorkspace(deps.db);
  const actorsOf = (workspaceId: string | null) => {
    const id = workspaceId ?? operator?.id;
    return id === undefined ? [] : [commandLine(id)];
  };
  const done: string[] = [];
  for (const id of ids) {
    await repair(deps, id, actorsOf);
    done.push(id);
  }
  if (!all && kind === undefined) return done;
  for (const key of await findFailedKeys(deps.db.kysely, kind ?? null)) {
    const id = jobId(key);
    if (done.includes(id)) continue;
    try {
      await repair(deps, id, actorsOf);
      done.push(id);
    } catch (error) {
      console.error(`parley: ${id}: ${(error as Error).message}`);
      process.exitCode = 1;
    }
  }
  return done;
}
