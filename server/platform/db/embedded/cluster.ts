import { createHash, randomBytes } from "node:crypto";
import { chmod, lchown, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Binaries } from "./binaries/binaries.ts";
import { codeOf, EmbeddedDatabaseError, messageOf } from "./errors.ts";
import { exists, makeFolder, readIfExists, syncFolder, writeWhole } from "./files.ts";
import { initdbIdentity, runInitdb, transferCluster } from "./initdb.ts";
import { prepareClusterParent, rememberLocation } from "./location.ts";
import { PARLEY_CONF, postgresqlConf } from "./settings.ts";
import type { Context, Location } from "./types.ts";

/**
 * Makes the cluster if there is none, refuses one of another PostgreSQL, and returns the superuser's password.
 * Call it under the start lock: whatever looks like an unfinished attempt is removed.
 */
export async function ensureCluster(
  context: Context,
  location: Location,
  binaries: Binaries,
): Promise<{ password: string }> {
  const { clusterDir } = location;
  await removeUnfinished(context, location);
  const version = (await readIfExists(join(clusterDir, "PG_VERSION")))?.trim();
  if (version === undefined && (await exists(clusterDir))) {
    throw new EmbeddedDatabaseError(
      `the folder ${clusterDir} exists but has no PostgreSQL database; set another PARLEY_DATA_DIR, or move the folder away`,
    );
  }
  if (version !== undefined && version !== String(binaries.major)) {
    throw new EmbeddedDatabaseError(
      `the database in ${clusterDir} was created by PostgreSQL ${version}, but this version of Parley runs PostgreSQL ${binaries.major}: back it up with the Parley version that created it, and restore the backup into an empty data folder`,
    );
  }
  const password = await ensurePassword(location, version !== undefined);
  if (version === undefined) {
    context.log("info", "creating the database", { folder: clusterDir });
    await prepareClusterParent(location, context.tuning.systemDir);
    await createCluster(context, location, binaries, password);
    await rememberLocation(location);
  }
  const conf = join(clusterDir, "parley.conf");
  // Only if it differs, so that a full or read-only disk can still be read.
  if ((await readIfExists(conf)) !== PARLEY_CONF) await writeWhole(conf, PARLEY_CONF, 0o600, location.user);
  await makeFolder(join(clusterDir, "log"), 0o700, location.user);
  return { password };
}

/**
 * Everything happens in a work folder beside the target, and one rename at the end makes the cluster appear:
 * kill -9 at any moment leaves a complete cluster or none.
 */
async function createCluster(
  context: Context,
  location: Location,
  binaries: Binaries,
  password: string,
): Promise<void> {
  const { clusterDir, user } = location;
  const identity = await initdbIdentity(user);
  const work = join(dirname(clusterDir), `${unfinishedPrefix(location)}${randomBytes(4).toString("hex")}`);
  const cluster = join(work, "cluster");
  const passwordFile = join(work, "password");
  try {
    await mkdir(work, { mode: 0o700 });
    await mkdir(cluster, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600, flag: "wx" });
    const { user: creator } = identity;
    if (creator)
      for (const path of [passwordFile, cluster, work]) await lchown(path, creator.uid, creator.gid);
    await runInitdb(binaries, identity, cluster, passwordFile, context.tuning.settings.fsync === "off");
    await transferCluster({ ...location, clusterDir: cluster });

    const conf = join(cluster, "postgresql.conf");
    await writeWhole(conf, postgresqlConf(await readFile(conf, "utf8")), 0o600, user);
    await makeFolder(join(cluster, "socket"), 0o700, user);
    await rename(cluster, clusterDir);
    await syncFolder(dirname(clusterDir));
  } catch (error) {
    throw new EmbeddedDatabaseError(`creating the database in ${clusterDir} failed: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    await rm(work, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Written before the cluster, so that there is never a cluster whose password nobody knows. */
async function ensurePassword(location: Location, clusterExists: boolean): Promise<string> {
  const file = join(location.dataDir, "postgres.password");
  const known = await readIfExists(file).catch((error) => {
    if (codeOf(error) !== "EACCES") throw error;
    throw new EmbeddedDatabaseError(
      `${file} cannot be read by this user: run Parley as the user who created the data folder`,
    );
  });
  if (known?.trim()) return known.trim();
  if (clusterExists) {
    throw new EmbeddedDatabaseError(
      `the password of the database in ${location.clusterDir} is missing: restore ${file}`,
    );
  }
  const password = randomBytes(24).toString("base64url");
  await writeWhole(file, `${password}\n`, 0o600);
  await chmod(file, 0o600);
  return password;
}

/** Names the data folder, because relocated clusters of several data folders share a parent. */
function unfinishedPrefix(location: Location): string {
  const owner = createHash("sha256").update(location.dataDir).digest("hex").slice(0, 12);
  return location.pointerFile
    ? `unfinished-${owner}-`
    : `${basename(location.clusterDir)}.unfinished-${owner}-`;
}

async function removeUnfinished(context: Context, location: Location): Promise<void> {
  const parent = dirname(location.clusterDir);
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(unfinishedPrefix(location))) continue;
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 3 }).catch((error) => {
      // An initdb whose Parley was killed may still be writing there; the next start tries again.
      context.log("warn", "an unfinished database could not be removed", {
        folder: join(parent, name),
        error,
      });
    });
  }
}
