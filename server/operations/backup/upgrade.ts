import { existsSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import { findBackupLockHolder, takeBackupLock } from "../../platform/db/backup-lock.ts";
import type { ConnectionSettings } from "../../platform/db/database.ts";
import { version } from "../../platform/version.ts";
import { copyTables, newId, readInstallationId, removeBackup } from "./create.ts";
import { BackupError } from "./errors.ts";
import { type BackupFolder, openPlainFolder } from "./folder.ts";
import { loadDatabase } from "./load.ts";
import {
  backupsPrefix,
  findBackup,
  listBackups,
  type Manifest,
  readManifest,
  writeManifest,
} from "./manifest.ts";
import { checkUnused, connectForCopy, openSnapshot } from "./snapshot.ts";

/** Folder of the data folder with the databases before each upgrade. */
const folderName = "before-upgrades";

/** Older ones are removed, except the newest two. */
const [keptMs, keptCount] = [30 * 86_400_000, 2];

/** The compressed text of a database is smaller than its files; this leaves room for tables that compress badly. */
const spaceShare = 0.5;
const spareBytes = 64 * 2 ** 20;

const lockPollMs = 500;

/** When to log what an upgrade waits for: other processes that start at the same time take seconds. */
const [logAfterMs, logEveryMs] = [5000, 60_000];

/**
 * Copies the database into the data folder before migrations change it. Files need no copy: a migration never changes them.
 * @param isNeeded whether migrations still wait; asked once no other process copies any more.
 * @throws BackupError in one line if there is not enough space; then nothing was migrated.
 */
export async function backUpBeforeUpgrade(
  settings: ConnectionSettings,
  dataDir: string,
  log: FastifyBaseLogger,
  isNeeded: () => Promise<boolean>,
): Promise<void> {
  const lock = await connectForCopy(settings);
  try {
    // Several processes start at once: one backs up and migrates, the others find nothing left to do.
    for (
      let nextLog = performance.now() + logAfterMs;
      !(await takeBackupLock(lock));
      await sleep(lockPollMs)
    ) {
      if (performance.now() < nextLog) continue;
      nextLog = performance.now() + logEveryMs;
      log.warn(
        { session: await findBackupLockHolder(lock) },
        "the upgrade waits: a backup of this database, or another process that upgrades it, has not finished",
      );
    }
    if (!(await isNeeded())) return;
    await checkSpace(lock, dataDir);
    const folder = await openUpgradeFolder(dataDir);
    try {
      const id = await copyDatabase(settings, folder);
      await removeOld(folder, Date.now());
      log.info({ id, folder: folder.destination }, "backed up the database before the upgrade");
    } finally {
      await folder.close();
    }
  } finally {
    await lock.end();
  }
}

async function checkSpace(client: pg.Client, dataDir: string): Promise<void> {
  const { rows } = await client.query<{ bytes: string }>(
    "select pg_database_size(current_database()) as bytes",
  );
  const needed = Number(rows[0]?.bytes) * spaceShare + spareBytes;
  const { bavail, bsize } = await statfs(dataDir);
  if (bavail * bsize >= needed) return;
  throw new BackupError(
    `there is not enough disk space to back up the database before the upgrade: ${dataDir} needs ${Math.ceil(needed / 1e6)} MB free and has ${Math.floor((bavail * bsize) / 1e6)} MB. Free some space, or back up elsewhere and set PARLEY_BACKUP_BEFORE_UPGRADE=false. Nothing was changed`,
  );
}

async function openUpgradeFolder(dataDir: string): Promise<BackupFolder> {
  const path = join(dataDir, folderName);
  await mkdir(path, { recursive: true, mode: 0o700 });
  return openPlainFolder(path);
}

async function copyDatabase(settings: ConnectionSettings, folder: BackupFolder): Promise<string> {
  const { complete, interrupted } = await listBackups(folder);
  for (const id of interrupted) await removeBackup(folder, id);
  const id = newId(complete.map((backup) => backup.id));
  const prefix = `${backupsPrefix}${id}/`;
  const snapshot = await openSnapshot(settings);
  try {
    const nothing = (name: string) => folder.write(`${prefix}${name}`, Readable.from([]));
    await writeManifest(folder, {
      format: 1,
      kind: "database",
      id,
      created_at: new Date().toISOString(),
      parley: version,
      postgres: snapshot.postgresVersion,
      migration: snapshot.migration,
      migrations: [...snapshot.migrations],
      installation: snapshot.installation,
      tables: await copyTables(snapshot, folder, prefix, () => {}),
      sequences: [...snapshot.sequences],
      secret: await nothing("secret"),
      objects: { part: await nothing("objects.jsonl"), count: 0, bytes: 0 },
      damaged: [],
    });
    return id;
  } finally {
    await snapshot.close();
  }
}

/** Removes copies that are older than 30 days, except the newest two. */
export async function pruneUpgradeCopies(dataDir: string, now = Date.now()): Promise<void> {
  if (!existsSync(join(dataDir, folderName))) return;
  const folder = await openUpgradeFolder(dataDir);
  try {
    await removeOld(folder, now);
  } finally {
    await folder.close();
  }
}

async function removeOld(folder: BackupFolder, now: number): Promise<void> {
  const { complete } = await listBackups(folder);
  for (const backup of complete.slice(0, -keptCount)) {
    const { created_at } = await readManifest(folder, backup);
    if (now - Date.parse(created_at) > keptMs) await removeBackup(folder, backup.id);
  }
}

/**
 * Finds the copy from before an upgrade.
 * @param id null: the last upgrade.
 * @throws BackupError if there is none.
 */
export async function findUpgrade(dataDir: string, id: string | null): Promise<Manifest> {
  const folder = await openUpgradeFolder(dataDir);
  try {
    const { complete } = await listBackups(folder);
    if (complete.length === 0)
      throw new BackupError(
        `there is no copy from before an upgrade in ${folder.destination}; restore a backup with \`parley restore\``,
      );
    return await readManifest(folder, await findBackup(folder, id));
  } finally {
    await folder.close();
  }
}

/**
 * Puts the database back to its state before an upgrade; everything since is lost, except files.
 * @throws BackupError if a server uses the database, or the copy is of another one.
 */
export async function rollBackUpgrade(
  settings: ConnectionSettings,
  dataDir: string,
  manifest: Manifest,
): Promise<void> {
  const folder = await openUpgradeFolder(dataDir);
  const client = await connectForCopy(settings);
  try {
    await checkUnused(settings);
    if ((await readInstallationId(client)) !== manifest.installation)
      throw new BackupError(`the copy ${manifest.id} is not of the configured database`);
    for (const { part } of manifest.tables) await folder.check(part);
    await loadDatabase(
      settings,
      {
        ...manifest,
        open: ({ part }) => folder.read(part),
      },
      { replace: true, finish: async () => {} },
    );
  } finally {
    await client.end();
    await folder.close();
  }
}
