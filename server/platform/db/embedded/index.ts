import { join } from "node:path";
import { checkLibraries } from "./binaries/binaries.ts";
import { exists } from "./files.ts";
import { initdbIdentity } from "./initdb.ts";
import { release } from "./process/release.ts";
import { supervise } from "./process/supervise.ts";
import { productionTuning } from "./settings.ts";
import { acquire } from "./start.ts";
import { databaseUser } from "./system-user.ts";
import type { Connection, Context, Log, Tuning } from "./types.ts";

export { DataFolderInUseError, EmbeddedDatabaseError } from "./errors.ts";
export { resolveDataDir } from "./location.ts";
export { throwawayTuning } from "./settings.ts";
export type { Connection } from "./types.ts";

export interface EmbeddedPostgres {
  /** What a `pg` client or pool needs; stays the same when PostgreSQL is restarted. */
  readonly connection: Connection;
  /** The same database as the cluster's superuser: for tests and benches alone. */
  readonly superuser: Connection;
  /**
   * Says that this program can use the database. Until then, `stop()` gives its files back to the user to whom they
   * belonged, so that the program of that user can start again.
   */
  accept(): void;
  /**
   * Resolves when our hold is released; PostgreSQL is stopped (fast shutdown) when nobody else holds it. Close
   * your own pool before. May be called again: the same promise.
   */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** PARLEY_DATA_DIR, absolute; made if it is missing. */
  readonly dataDir: string;
  /** A server is the only one on its data folder; tools (the command line) may run beside it. */
  readonly purpose: "server" | "tool";
  readonly log: Log;
  /** PostgreSQL was lost and cannot be brought back, or another server has taken the data folder. */
  readonly onLost?: (error: Error) => void;
}

/**
 * Checks what the embedded PostgreSQL needs of this system, without creating anything: its libraries and, for a new
 * database, an account to create it as.
 * @throws Error in one line with the remedy.
 */
export async function checkEmbeddedPostgres(dataDir: string): Promise<void> {
  await checkLibraries();
  const cluster = join(dataDir, "postgres");
  if ((await exists(cluster)) || (await exists(join(dataDir, "postgres.location")))) return;
  await initdbIdentity(databaseUser(cluster, dataDir));
}

/**
 * Starts, or joins, the PostgreSQL of a data folder, and keeps it running until `stop()`.
 *
 * It listens on a Unix socket only, survives our death (the next start adopts it), and is started again when it
 * is killed. As root it runs as an unprivileged system user, because PostgreSQL refuses root.
 *
 * @throws DataFolderInUseError when `purpose` is "server" and another server has the folder;
 * EmbeddedDatabaseError for other reasons
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  /** For tests, and for a cluster that is thrown away. */
  tuning: Tuning = productionTuning,
): Promise<EmbeddedPostgres> {
  const stopping = new AbortController();
  const { dataDir, purpose, log } = options;
  const context: Context = { dataDir, purpose, log, tuning, signal: stopping.signal };
  const first = await acquire(context);
  const supervision = supervise(context, first, (error) => {
    log("error", "PostgreSQL is lost", { reason: error.message });
    options.onLost?.(error);
  });

  let stopped: Promise<void> | undefined;
  let { previousOwner } = first;
  return {
    connection: first.connection,
    superuser: first.superuser,
    accept() {
      previousOwner = undefined;
    },
    stop() {
      stopped ??= (async () => {
        stopping.abort();
        // The signal has done its work; releasing must not be cut short by it.
        await release({ ...context, signal: new AbortController().signal }, await supervision, previousOwner);
      })();
      return stopped;
    },
  };
}
