import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import { grain } from "../sources/grain.ts";
import { ImportError } from "./errors.ts";
import { endRun, findRun } from "./queries.ts";
import { type RunDependencies, runImport } from "./run.ts";

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
  try {
    const source = await grain({
      baseUrl: row.origin,
      token: encryptor.decrypt(row.token),
      allowAddresses: config.hooksAllowAddresses,
      signal,
    });
    try {
      await runImport(deps, row, source, { signal });
    } finally {
      await source.close?.();
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof ImportError)) throw error;
    await endRun(db.kysely, runId, "failed", error.message);
  }
}
