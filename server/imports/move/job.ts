import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database } from "../../platform/db/database.ts";
import { grain } from "../sources/grain.ts";
import { ImportError } from "./errors.ts";
import { endRun, findRun } from "./queries.ts";
import { type RunDependencies, runImport } from "./run.ts";

/** How often a running job asks whether its run was canceled. */
const cancelCheckMs = 3000;

/**
 * The job that runs an import which an admin has started. Killed at any point it runs again, and skips what was imported.
 */
export async function importRecordingsJob(
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
  const either = AbortSignal.any([signal, canceling.signal]);
  try {
    const source = await grain({
      baseUrl: row.origin,
      token: encryptor.decrypt(row.token),
      allowAddresses: config.hooksAllowAddresses,
      signal: either,
    });
    try {
      await runImport(deps, row, source, { signal: either });
    } finally {
      await source.close?.();
    }
  } catch (error) {
    if (canceling.signal.aborted) return;
    if (signal.aborted || !(error instanceof ImportError)) throw error;
    await endRun(db.kysely, runId, "failed", error.message);
  } finally {
    stopWatching();
  }
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
