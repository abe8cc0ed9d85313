import { randomBytes } from "node:crypto";
import { constants, statSync } from "node:fs";
import { access, chmod, lstat, mkdir, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { EmbeddedDatabaseError } from "./errors.ts";
import { exists, makeFolder, readIfExists, writeWhole } from "./files.ts";
import { blockedFolders, databaseUser } from "./system-user.ts";
import type { Location } from "./types.ts";

export const SYSTEM_DIR = "/var/lib/parley";

/**
 * The data folder as an absolute path. `explicit` is PARLEY_DATA_DIR; without it `./data`, or
 * `/var/lib/parley` when we are root in a folder that the database's system user cannot enter
 * (design §5), such as a checkout in /root.
 */
export function resolveDataDir(explicit: string | undefined, cwd: string): string {
  if (explicit) return resolve(cwd, explicit);
  const local = join(cwd, "data");
  const cluster = join(local, "postgres");
  const user = databaseUser(cluster, statSync(local, { throwIfNoEntry: false }) ? local : cwd);
  return user && blockedFolders(cwd, user).length > 0 ? SYSTEM_DIR : local;
}

/**
 * Finds (or decides) where the cluster of a data folder is, and opens the data folder for the database's
 * user where that is ours to do. Nothing is created but the data folder itself.
 *
 * - Ordinary user, or the folder can be reached: `<data folder>/postgres`.
 * - Only the data folder blocks (`mktemp -d` as root): it is opened with mode 0711, which lets pass but not list.
 * - A folder above blocks: that one is not ours to open. The cluster goes to `<system folder>/clusters/<id>`,
 *   and `postgres.location` in the data folder remembers it, so that deleting the data folder gives a new database.
 */
export async function locate(wanted: string, systemDir: string): Promise<Location> {
  const asRoot = process.getuid?.() === 0;
  await mkdir(wanted, { recursive: true, mode: asRoot ? 0o711 : 0o700 });
  const dataDir = await realpath(wanted);
  const inside = join(dataDir, "postgres");
  await assertOurs(dataDir, inside);

  await assertMode(inside, "use");
  const user = databaseUser(inside, dataDir);
  if (!user) return { dataDir, clusterDir: inside, user, pointerFile: undefined };

  const pointerFile = join(dataDir, "postgres.location");
  const remembered = (await readIfExists(pointerFile))?.trim();
  if (remembered && !(await exists(inside))) {
    if (!(await exists(remembered))) {
      throw new EmbeddedDatabaseError(
        `the database of the data folder ${dataDir} is missing: ${remembered} (restore that folder, or delete ${pointerFile} to start with an empty database)`,
      );
    }
    await assertNotCopied(dataDir, remembered, pointerFile);
    await assertMode(remembered, "use");
    return { dataDir, clusterDir: remembered, user: databaseUser(remembered, dataDir), pointerFile };
  }

  let blocked = blockedFolders(dataDir, user);
  if (blocked.length === 1 && blocked[0] === dataDir) {
    await chmod(dataDir, ((await stat(dataDir)).mode & 0o7777) | 0o011);
    blocked = blockedFolders(dataDir, user);
  }
  if (blocked.length === 0) return { dataDir, clusterDir: inside, user, pointerFile: undefined };
  if (await exists(inside)) {
    // Never create a new, empty database here: the old one would seem lost.
    throw new EmbeddedDatabaseError(
      `the database in ${inside} can't be reached by the system user ${user.uid} it runs as; let that user enter the folder ${blocked[0]}`,
    );
  }
  const clusterDir = join(systemDir, "clusters", randomBytes(8).toString("hex"));
  return { dataDir, clusterDir, user, pointerFile };
}

/** The folder that holds the cluster, made when it is one of ours under the system folder. */
export async function prepareClusterParent(location: Location, systemDir: string): Promise<void> {
  if (!location.pointerFile) return;
  await makeFolder(systemDir, 0o755);
  await makeFolder(join(systemDir, "clusters"), 0o711);
}

/** Written after the cluster is complete: a start that was killed before it simply starts over. */
export async function rememberLocation(location: Location): Promise<void> {
  if (!location.pointerFile) return;
  await writeWhole(location.pointerFile, `${location.clusterDir}\n`, 0o600);
  await writeWhole(ownerFile(location.clusterDir), `${location.dataDir}\n`, 0o600);
}

/** Beside the cluster, as the cluster itself belongs to the database's user: which data folder it is of. */
function ownerFile(clusterDir: string): string {
  return `${clusterDir}.data-folder`;
}

/**
 * A copied data folder brings a pointer to the original's cluster. One that was moved may keep it: then the folder that
 * had the cluster before does not point to it any more.
 */
async function assertNotCopied(dataDir: string, clusterDir: string, pointerFile: string): Promise<void> {
  const owner = (await readIfExists(ownerFile(clusterDir)))?.trim();
  if (owner === dataDir) return;
  const pointer = owner && (await readIfExists(join(owner, "postgres.location")).catch(() => undefined));
  if (pointer?.trim() === clusterDir) {
    throw new EmbeddedDatabaseError(
      `the data folder ${dataDir} is a copy of ${owner} without its database, which is in ${clusterDir}: copy that folder to ${join(dataDir, "postgres")} with the server stopped, and delete ${pointerFile}`,
    );
  }
  await writeWhole(ownerFile(clusterDir), `${dataDir}\n`, 0o600);
}

/** An ordinary user gets one clear line instead of an EACCES from the depth. */
async function assertOurs(dataDir: string, clusterDir: string): Promise<void> {
  const uid = process.getuid?.();
  if (uid === undefined || uid === 0) return;
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new EmbeddedDatabaseError(
      `this system user (${uid}) can't write to the data folder ${dataDir}; change its owner, or set PARLEY_DATA_DIR`,
    );
  });
  const cluster = await lstat(clusterDir).catch(() => undefined);
  if (cluster && cluster.uid !== uid) {
    throw new EmbeddedDatabaseError(
      `the database in ${clusterDir} belongs to user ${cluster.uid}, not to this user (${uid}): run Parley as the user who created the data folder, or give it to this user: chown -R ${uid} ${dataDir}`,
    );
  }
}

/** The owner's rights to its folder, without which PostgreSQL can't use it. */
const ownerRights = 0o700;
/** Rights with which PostgreSQL does not start. */
const refusedRights = 0o027;

/** @throws EmbeddedDatabaseError if the mode of a cluster's folder keeps PostgreSQL from using it, or from starting. */
export async function assertMode(clusterDir: string, use: "use" | "start"): Promise<void> {
  const cluster = await lstat(clusterDir).catch(() => undefined);
  if (!cluster?.isDirectory()) return;
  const mode = cluster.mode & 0o777;
  const isRefused = use === "start" && (mode & refusedRights) !== 0;
  if ((mode & ownerRights) === ownerRights && !isRefused) return;
  throw new EmbeddedDatabaseError(
    `PostgreSQL can't use its folder ${clusterDir} with the mode ${mode.toString(8).padStart(4, "0")}: chmod 700 ${clusterDir}`,
  );
}
