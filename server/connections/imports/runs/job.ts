import { sql } from "kysely";
import { z } from "zod";
import { sentenceOf } from "../../../../contract/sentences.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { defineJob, defineRecurringJob, type JobOwner } from "../../../platform/jobs/define.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { ImportError, WaitError } from "../sources/errors.ts";
import { grain } from "../sources/grain.ts";
import { endRun, failStoppedRuns, findRun, postponeRun, takeDueRuns } from "./queries.ts";
import { type RunDependencies, runImport } from "./run.ts";

/** How often a running job asks whether its run was canceled. */
const cancelCheckMs = 3000;

/** A run that has to wait for longer gives its slot to others. */
const maxHeldMs = 60_000;

/** A run ends this long after it was started, however long it has waited. */
const maxRunMs = 48 * 3_600_000;

/**
 * The job that runs an import which an admin has started. Killed at any point it runs again, and skips what was imported.
 * A run that has to wait for long ends its job, and `continueRuns` starts another one.
 */
async function importRecordingsJob(
  deps: RunDependencies & {
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "hooksAllowAddresses">;
  },
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, encryptor, config } = deps;
  const row = await findRun(db.kysely, runId);
  if (row === undefined || row.token === null || !["pending", "running"].includes(row.state)) return;
  const canceling = new AbortController();
  const stopWatching = watchForCancel(deps.db, runId, canceling);
  const timeout = AbortSignal.timeout(Math.max(0, row.created_at.getTime() + maxRunMs - Date.now()));
  const either = AbortSignal.any([signal, canceling.signal, timeout]);
  try {
    const source = await grain({
      baseUrl: row.origin,
      token: encryptor.decrypt(row.token),
      allowAddresses: config.hooksAllowAddresses,
      signal: either,
      maxHeldMs,
    });
    try {
      await runImport(deps, row, source, { signal: either, refusesToWait: true });
    } finally {
      await source.close?.();
    }
  } catch (error) {
    if (canceling.signal.aborted) return;
    if (signal.aborted) throw error;
    if (error instanceof WaitError) return await postponeRun(db.kysely, runId, error.waitMs);
    if (!timeout.aborted && !(error instanceof ImportError)) throw error;
    const reason = timeout.aborted ? tooLong : (error as Error).message;
    await db.kysely.transaction().execute((tx) => endRun(tx, runId, "failed", reason));
  } finally {
    stopWatching();
  }
}

const tooLong = sentenceOf("import_slow", { hours: maxRunMs / 3_600_000 });

/** Starts the jobs of runs whose wait is over, and ends runs whose job was stopped. */
export async function continueRuns(db: Database, jobs: JobQueue): Promise<void> {
  await db.kysely.transaction().execute(failStoppedRuns);
  const isAnyDue = await db.kysely.transaction().execute(async (tx) => {
    const due = await takeDueRuns(tx);
    for (const runId of due) await jobs.enqueue(tx, "import_recordings", { runId }, runId);
    return due.length > 0;
  });
  if (isAnyDue) jobs.wake();
}

/** Aborts what waits for the service once the run is canceled. @returns ends the watch. */
function watchForCancel(db: Database, runId: string, canceling: AbortController): () => void {
  const check = async (): Promise<void> => {
    // Without the database the next check finds out.
    const run = await findRun(db.kysely, runId).catch(() => undefined);
    if (run?.state === "canceled") canceling.abort();
  };
  const timer = setInterval(() => void check(), cancelCheckMs);
  return () => clearInterval(timer);
}

const payload = z.object({ runId: z.string() });

declare module "../../../platform/jobs/define.ts" {
  interface JobPayloads {
    import_recordings: z.infer<typeof payload>;
  }
}

export const importRecordingsKind = defineJob({
  name: "import_recordings",
  label: (i18n) => i18n.t("Import recordings"),
  schema: payload,
  subject: "import_run",
  owner: ({ runId }) => sql<JobOwner>`
    select workspace_id, created_by as user_id from import_runs where id = ${runId}`,
  // Mostly waits for the network. A workspace has one run at a time, so that others always find a slot.
  concurrency: 3,
  hasReservedSlots: true,
  // A restored copy must not continue imports beside the original.
  guard: "original",
  discard: {
    lost: (i18n) => i18n.t("The import is canceled. What was imported stays."),
    async end(tx, _context, runId) {
      await endRun(tx, runId, "canceled");
      return null;
    },
  },
  handler: (deps, { runId }) => importRecordingsJob(deps, runId, deps.signal),
});

export const continueImportsKind = defineRecurringJob({
  name: "continue_imports",
  label: (i18n) => i18n.t("Continue imports"),
  every: "sweep",
  guard: "original",
  handler: ({ db, jobs }) => continueRuns(db, jobs),
});
