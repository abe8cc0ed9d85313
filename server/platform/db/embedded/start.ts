import { readyBinaries } from "./binaries/binaries.ts";
import { ensureCluster } from "./cluster.ts";
import { EmbeddedDatabaseError } from "./errors.ts";
import { exists } from "./files.ts";
import { transferCluster } from "./initdb.ts";
import { locate } from "./location.ts";
import { type Hold, takeHold } from "./process/holders.ts";
import { reachPostmaster } from "./process/postmaster.ts";
import { shutDown } from "./process/shutdown.ts";
import { withStartLock } from "./process/start-lock.ts";
import { ensureRole } from "./role.ts";
import { DATABASE, PORT, SUPERUSER } from "./settings.ts";
import type { SystemUser } from "./system-user.ts";
import type { Connection, Context, Location } from "./types.ts";

/** A running cluster that we have hold of. */
export interface Acquired {
  readonly location: Location;
  /** How the program connects: as an ordinary role. */
  readonly connection: Connection;
  /** How the superuser connects to the same database. */
  readonly superuser: Connection;
  readonly hold: Hold;
  /** To whom the cluster belonged before this process started PostgreSQL; undefined: to the same user. */
  readonly previousOwner: SystemUser | undefined;
}

/** From whatever state the data folder is in to a running cluster held by us. */
export async function acquire(context: Context): Promise<Acquired> {
  const { dataDir } = await locate(context.dataDir, context.tuning.systemDir);
  return withStartLock(context, dataDir, async () => {
    // Again, as another process may have made the cluster while we waited.
    const location = await locate(dataDir, context.tuning.systemDir);
    const asRoot = location.user !== undefined;
    const binaries = await readyBinaries(location.user, asRoot ? context.tuning.systemDir : dataDir);
    const { password } = await ensureCluster(context, location, binaries);
    for (;;) {
      const reached = await reachPostmaster(context, location, binaries, password);
      try {
        const hold = await takeHold(context, location, reached.client, reached.pid);
        if (!hold) continue;
        const superuser = {
          host: reached.socketDir,
          port: PORT,
          user: SUPERUSER,
          password,
          database: DATABASE,
        };
        const connection = await ensureRole(hold.client, superuser);
        context.log("info", reached.launched ? "PostgreSQL started" : "joined the running PostgreSQL", {
          version: binaries.version,
          pid: reached.pid,
          folder: location.clusterDir,
        });
        return { location, connection, superuser, hold, previousOwner: reached.previousOwner };
      } catch (error) {
        await reached.client.end().catch(() => undefined);
        // Under the start lock nobody else can have taken hold of what we launched.
        if (reached.launched) await shutDown(context, reached.pid, location.clusterDir);
        if (reached.previousOwner)
          await transferCluster({ clusterDir: location.clusterDir, user: reached.previousOwner });
        throw error;
      }
    }
  });
}

/**
 * Gets hold of the cluster again after PostgreSQL was lost. Never makes a new one: if the folder is gone, an
 * empty database would hide the loss.
 */
export async function reacquire(context: Context, before: Acquired): Promise<Acquired> {
  if (!(await exists(before.location.clusterDir))) {
    throw new EmbeddedDatabaseError(`the database folder ${before.location.clusterDir} no longer exists`);
  }
  const again = await acquire(context);
  if (again.connection.host === before.connection.host) return again;
  await again.hold.client.end().catch(() => undefined);
  throw new EmbeddedDatabaseError(
    `PostgreSQL's socket moved from ${before.connection.host} to ${again.connection.host}`,
  );
}
