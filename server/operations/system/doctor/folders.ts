import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, readdir, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config } from "../../../platform/config/config.ts";
import type { StoreKind } from "../../../platform/storage/store.ts";
import { userName } from "../../../platform/user-name.ts";
import { reasonOf } from "../health/finding.ts";
import { readDisk } from "../storage-use.ts";
import { explainWriteFailure } from "../write-failure.ts";
import { checkBackups } from "./backups.ts";
import { type Check, passed, skipped, warning, wrong } from "./check.ts";

const gib = 1024 ** 3;

/** A database on a full disk stops; below the second figure, one large upload fills it. */
const [fullBelow, shortBelow] = [gib / 2, 5 * gib];

/** PostgreSQL and a single upload create this many files in a short time. */
const fewInodes = 1000;

/** The data folder, what is in it, its free space, and the backups. */
export async function checkFolders(config: Config): Promise<Check[]> {
  const { dataDir } = config;
  const folder = await checkDataFolder(dataDir);
  if (!existsSync(dataDir)) return [folder];
  const volume = [...(await checkDisk(dataDir)), ...(await checkInodes(dataDir))];
  if (folder.state !== "ok") return [folder, ...volume];
  return [folder, await checkDataFiles(dataDir), ...volume, ...(await checkBackupFolder(config))];
}

async function checkDataFolder(dataDir: string): Promise<Check> {
  const name = "data folder";
  const user = userName();
  if (!existsSync(dataDir)) {
    let parent = dirname(dataDir);
    while (!existsSync(parent)) parent = dirname(parent);
    return access(parent, constants.W_OK | constants.X_OK).then(
      () => passed(name, `${dataDir} does not exist yet; the first start creates it.`),
      () =>
        wrong(
          name,
          `${dataDir} does not exist, and the user ${user} may not create it in ${parent}.`,
          `Create it for that user (mkdir, chown ${user}), or set PARLEY_DATA_DIR to another folder.`,
        ),
    );
  }
  const path = join(dataDir, `.doctor-${randomUUID()}`);
  try {
    await writeFile(path, "parley", { flag: "wx" });
    return passed(name, `The user ${user} may write to ${dataDir}.`);
  } catch (error) {
    const { cause, remedy } = await explainWriteFailure(error, dataDir);
    return wrong(name, `The user ${user} can't write to ${dataDir}: ${cause}`, remedy);
  } finally {
    // Nothing was written if this fails as well.
    await rm(path, { force: true }).catch(() => {});
  }
}

async function checkDataFiles(dataDir: string): Promise<Check> {
  const name = "files of the data folder";
  const { uid } = await stat(dataDir);
  // Commands that root runs become the folder's owner, unless only root has used the folder.
  if (process.getuid?.() === 0 && uid !== 0)
    return warning(
      name,
      `${dataDir} belongs to user ${uid}, but everything in it to others`,
      `If that user runs Parley, give it everything: chown -R ${uid} ${dataDir}.`,
    );
  return checkContents(name, [dataDir, join(dataDir, "objects")]);
}

/** The destination of backups, and what earlier backups wrote there. */
async function checkBackupFolder(config: Config): Promise<Check[]> {
  const backups = await checkBackups(config);
  const { destination } = config.backup;
  if (backups.state !== "ok" || destination === null || destination.startsWith("s3://")) return [backups];
  return [backups, await checkContents("files of the backups", [destination, join(destination, "backups")])];
}

/** Whether this user can use what is in folders: commands of another user may have created some of it. */
async function checkContents(name: string, folders: readonly string[]): Promise<Check> {
  const user = userName();
  const [folder = ""] = folders;
  for (const parent of folders)
    for (const entry of await readdir(parent, { withFileTypes: true }).catch(() => [])) {
      const path = join(parent, entry.name);
      const needed = entry.isDirectory() ? constants.R_OK | constants.W_OK | constants.X_OK : constants.R_OK;
      try {
        await access(path, needed);
      } catch (error) {
        // Temporary files come and go.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") continue;
        return wrong(
          name,
          `The user ${user} can't use ${path}: ${reasonOf(error)}`,
          `Give everything to the user that runs Parley: chown -R ${user} ${folder}.`,
        );
      }
    }
  return passed(name, `The user ${user} can use everything in ${folder}.`);
}

/** File systems by the number that Linux gives them (statfs(2)). */
const fileSystems: ReadonlyMap<number, { name: string; problem: "network" | "memory" | "container" }> =
  new Map([
    [0x6969, { name: "NFS", problem: "network" }],
    [0x517b, { name: "SMB", problem: "network" }],
    [0xff534d42, { name: "CIFS", problem: "network" }],
    [0xfe534d42, { name: "SMB", problem: "network" }],
    [0x01021997, { name: "9p", problem: "network" }],
    [0x01021994, { name: "tmpfs", problem: "memory" }],
    [0x794c7630, { name: "overlayfs", problem: "container" }],
  ]);

/** @param files the store that has the installation's files. */
export async function checkFileSystem({ dataDir, databaseUrl }: Config, files: StoreKind): Promise<Check> {
  const name = "file system";
  if (databaseUrl !== null && files === "s3")
    return skipped(name, "The data folder holds temporary files only.");
  const { type } = await statfs(dataDir);
  const found = process.platform === "linux" ? fileSystems.get(type >>> 0) : undefined;
  const mount = "Mount a volume of a local disk there, or set PARLEY_DATA_DIR to a folder on one.";
  if (found === undefined) return passed(name, `${dataDir} is on a suitable file system.`);
  if (found.problem === "memory")
    return warning(name, `${dataDir} is in memory (${found.name}) and lost at the next restart.`, mount);
  if (found.problem === "container")
    return warning(
      name,
      `${dataDir} is part of a container's own layer (${found.name}) and lost with the container.`,
      mount,
    );
  return databaseUrl === null
    ? wrong(
        name,
        `${dataDir} is on a network file system (${found.name}), where the embedded database can be damaged when the connection breaks.`,
        `${mount} Or use your own PostgreSQL with PARLEY_DATABASE_URL.`,
      )
    : warning(name, `Files are stored on a network file system (${found.name}).`, "Consider S3 instead.");
}

/** Whether the volume of the data folder has enough free space. */
export async function checkDisk(dataDir: string): Promise<Check[]> {
  const name = "disk space";
  const disk = await readDisk(dataDir);
  if (disk === null) return [skipped(name, `The free space of ${dataDir} can't be read.`)];
  const words = `The volume of ${dataDir} has ${(disk.free_bytes / gib).toFixed(1)} GiB free of ${(disk.size_bytes / gib).toFixed(1)} GiB.`;
  const remedy = "Free some space or enlarge the volume. Retention rules delete old recordings.";
  if (disk.free_bytes < fullBelow) return [wrong(name, words, remedy)];
  return [disk.free_bytes < shortBelow ? warning(name, words, remedy) : passed(name, words)];
}

/** A volume has a fixed number of files on most file systems; without free ones, none can be created. */
async function checkInodes(dataDir: string): Promise<Check[]> {
  const name = "inodes";
  const { files, ffree } = await statfs(dataDir).catch(() => ({ files: 0, ffree: 0 }));
  // Some file systems have no limit.
  if (files === 0) return [];
  const words = `The volume of ${dataDir} has room for ${ffree} more files of ${files}.`;
  const remedy = "Delete files on the volume, or create a file system with more inodes.";
  if (ffree < Math.min(fewInodes, files / 10)) return [wrong(name, words, remedy)];
  return [ffree < files / 20 ? warning(name, words, remedy) : passed(name, words)];
}
