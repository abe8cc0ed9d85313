import { pino } from "pino";
import type { Again, Job, JobContext, RunContext } from "../../server/platform/jobs/define.ts";
import type { SweepLog } from "../../server/platform/jobs/for-each-isolated.ts";
import type { TestApp } from "./app.ts";

/** What jobs of a test work with. */
export function jobContext({ db, jobs, store, config, encryptor }: Omit<JobContext, "log">): JobContext {
  return { db, jobs, store, config, encryptor, log: pino({ level: "silent" }) };
}

/** Runs a job once in this process, without the queue. @param given replaces parts of what it works with. */
export function runJob(
  app: TestApp,
  kind: Job,
  data: object = {},
  {
    log,
    signal = new AbortController().signal,
  }: Partial<Pick<RunContext, "signal">> & { log?: SweepLog } = {},
): Promise<Again | null> {
  const context = jobContext(app);
  return kind.run({ ...context, log: Object.assign(context.log, log), signal }, data);
}
