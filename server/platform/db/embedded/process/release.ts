import { rmdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { codeOf } from "../errors.ts";
import { transferCluster } from "../initdb.ts";
import { socketFolderInside } from "../socket-folder.ts";
import type { Acquired } from "../start.ts";
import type { SystemUser } from "../system-user.ts";
import type { Context } from "../types.ts";
import { becomeLast } from "./holders.ts";
import { probe } from "./probe.ts";
import { isPostmaster } from "./process-facts.ts";
import { shutDown } from "./shutdown.ts";
import { withStartLock } from "./start-lock.ts";

const ATTEMPTS = 50;
const POLL_MS = 100;

/**
 * Lets go of the cluster and, when nobody else holds it, stops PostgreSQL. Under the start lock, so that a
 * process which starts at this moment finds it either still running and held, or gone.
 * @param owner to whom to give the cluster once PostgreSQL is stopped; undefined: it stays as it is.
 */
export async function release(context: Context, acquired: Acquired, owner?: SystemUser): Promise<void> {
  const { location } = acquired;
  await withStartLock(context, location.dataDir, async () => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const open = await connection(acquired, attempt);
      if (open === "absent") return;
      if (open !== "busy") {
        const done = await leave(context, acquired, open, owner);
        await open.client.end().catch(() => undefined);
        if (done) return;
      }
      // It was lost under our hands, or it recovers from a crash at the moment of our stop.
      await sleep(POLL_MS);
    }
    context.log("warn", "PostgreSQL did not respond during shutdown and was left running");
  });
}

/** Our own connection first; when that is lost, a new one, unless no postmaster is there. */
async function connection(
  acquired: Acquired,
  attempt: number,
): Promise<{ client: pg.Client; pid: number } | "absent" | "busy"> {
  if (attempt === 0) return acquired.hold;
  const { host, password } = acquired.superuser;
  const { clusterDir } = acquired.location;
  const seen = await probe(host, clusterDir, password).catch(() => undefined);
  if (seen?.kind === "connected") return seen;
  if (seen?.kind === "busy") return "busy";
  return (await isPostmaster(acquired.hold.pid, clusterDir)) ? "busy" : "absent";
}

/** True when there is nothing more to do. */
async function leave(
  context: Context,
  acquired: Acquired,
  { client, pid }: { client: pg.Client; pid: number },
  owner: SystemUser | undefined,
): Promise<boolean> {
  const { location, connection } = acquired;
  try {
    if (!(await becomeLast(client))) return true;
  } catch {
    return false; // The connection is lost.
  }
  if (!(await isPostmaster(pid, location.clusterDir))) {
    context.log("warn", "PostgreSQL runs outside of this process's sight: it was left running", { pid });
    return true;
  }
  await shutDown(context, pid, location.clusterDir);
  if (owner) await transferCluster({ clusterDir: location.clusterDir, user: owner });
  context.log("info", "PostgreSQL stopped", { pid });
  if (connection.host !== socketFolderInside(location)) {
    await rmdir(connection.host).catch((error) => {
      if (codeOf(error) !== "ENOENT") context.log("warn", "the socket folder was not removed", { error });
    });
  }
  return true;
}
