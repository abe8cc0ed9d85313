import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Readable } from "node:stream";
import type pg from "pg";
import { forEachConcurrent } from "../../platform/concurrency.ts";
import type { Config } from "../../platform/config/config.ts";
import { openSecrets, readSecretState } from "../../platform/crypto/secret.ts";
import { takeBackupLock } from "../../platform/db/backup-lock.ts";
import type { ConnectionSettings, Database } from "../../platform/db/database.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { version } from "../../platform/version.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";
import type { BackupFolder } from "./folder.ts";
import {
  type BackupName,
  backupsPrefix,
  claimFolder,
  forgetDamaged,
  listBackups,
  type Manifest,
  readManifest,
  tableBytesOf,
  writeManifest,
} from "./manifest.ts";
import { copyObjects, listWanted } from "./objects.ts";
import { recordRun } from "./runs.ts";
import { connectForCopy, openSnapshot, type Snapshot } from "./snapshot.ts";

/** Tables read at a time. */
const readersAtOnce = 3;

/** The installation to back up. */
export interface Source {
  readonly db: Database;
  readonly settings: ConnectionSettings;
  readonly store: ObjectStore;
  readonly config: Config;
}

/** How far a backup is. */
export interface BackupProgress {
  readonly phase: "database" | "files";
  /** Tables or files. Of files those that the database knows; uploads and imports come on top. */
  readonly total: number;
  readonly done: number;
  /** Bytes of the files so far. */
  readonly bytes?: number;
  /** How many of them were not in the folder yet. */
  readonly copied_bytes?: number;
}

/** A finished backup. */
export interface BackupResult {
  readonly manifest: Manifest;
  /** Bytes of all files and tables, and how many of them this run wrote. */
  readonly bytes: number;
  readonly copiedBytes: number;
}

/** Another backup has the lock. */
export class BackupRunningError extends BackupError {}

/**
 * Runs work while holding the lock of backups: nothing else backs up, prunes or removes files meanwhile.
 * @throws BackupRunningError if another has it.
 */
export async function withBackupLock<T>(
  settings: ConnectionSettings,
  work: (lock: pg.Client) => Promise<T>,
): Promise<T> {
  const lock = await connectForCopy(settings);
  try {
    if (!(await takeBackupLock(lock)))
      throw new BackupRunningError("another backup is running; wait until it has finished");
    return await work(lock);
  } finally {
    await lock.end();
  }
}

/**
 * Backs an installation up while it runs: the database as it is at one moment, then every file that this state refers to.
 * The manifest is written last; without it there is no backup, and the next run uses what was copied.
 * @throws BackupError if another backup runs, or the folder has backups of another installation.
 */
export function createBackup(
  source: Source,
  folder: BackupFolder,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackupResult> {
  const start = { kind: "backup", destination: folder.destination, scheduledFor: null } as const;
  // The lock comes before the snapshot, so that no file that the snapshot refers to is removed.
  return withBackupLock(source.settings, (lock) =>
    recordRun(lock, start, () => writeBackup(source, folder, lock, onProgress), describeResult),
  );
}

/** A backup for the table of runs. */
export function describeResult({ manifest, bytes, copiedBytes }: BackupResult) {
  return { backupId: manifest.id, bytes, copiedBytes, missing: manifest.damaged };
}

/** The secrets with which values of the database may be encrypted, that which encrypts first. */
async function readNeededSecrets({ config, store, db }: Pick<Source, "config" | "store" | "db">) {
  const { secrets } = await openSecrets(config.secret, store, db, { isReader: true });
  const { fingerprints } = await readSecretState(db.kysely);
  // The database lists none before the first server starts on it.
  const isListed = fingerprints.length > 0;
  return secrets
    .filter(({ fingerprint }) => !isListed || fingerprints.some((one) => one.equals(fingerprint)))
    .map(({ text }) => text);
}

/** Writes a backup. @param lock the connection that holds the lock of backups. */
export async function writeBackup(
  { settings, store, config, db }: Source,
  folder: BackupFolder,
  lock: pg.Client,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<BackupResult> {
  await claimFolder(folder, await readInstallationId(lock));
  const { complete, interrupted } = await listBackups(folder);
  // Only this installation writes here, one backup at a time: their runs were killed.
  for (const id of interrupted) await removeBackup(folder, id);
  const last = complete.at(-1);
  const previous = last === undefined ? null : await readUndamaged(folder, last);
  const id = newId(complete.map((backup) => backup.id));
  const prefix = `${backupsPrefix}${id}/`;
  const list = join(config.dataDir, "scratch", `backup-${randomUUID()}`);

  // Before and after: a rotation may begin or end meanwhile.
  const secretsBefore = await readNeededSecrets({ config, store, db });
  const snapshot = await openSnapshot(settings);
  let tables: Manifest["tables"];
  let total: number;
  const createdAt = new Date();
  try {
    await listWanted(snapshot, list);
    total = await countFiles(snapshot);
    tables = await copyTables(snapshot, folder, prefix, onProgress);
  } finally {
    await snapshot.close();
  }
  const secret = await folder.write(
    `${prefix}secret`,
    Readable.from([
      Buffer.from(
        [...new Set([...(await readNeededSecrets({ config, store, db })), ...secretsBefore])].join(","),
      ),
    ]),
  );
  const objects = await copyObjects(
    folder,
    store,
    { wanted: list, previous, listName: `${prefix}objects.jsonl` },
    ({ files, bytes, copiedBytes }) =>
      onProgress({ phase: "files", total, done: files, bytes, copied_bytes: copiedBytes }),
  );
  const manifest: Manifest = {
    format: 1,
    id,
    created_at: createdAt.toISOString(),
    parley: version,
    postgres: snapshot.postgresVersion,
    migration: snapshot.migration,
    migrations: [...snapshot.migrations],
    installation: snapshot.installation,
    kind: "full",
    tables,
    sequences: [...snapshot.sequences],
    secret,
    objects: { part: objects.part, count: objects.count, bytes: objects.bytes },
    damaged: [...objects.damaged],
  };
  // A lock that was lost with its connection protected nothing since: files may be missing.
  await lock.query("select 1");
  for (const { name } of [...tables.map(({ part }) => part), secret, objects.part])
    if ((await folder.store.head(name)) === null)
      throw new BackupError(`${name} disappeared during the backup; does another program clean up there?`);
  await writeManifest(folder, manifest);
  await forgetDamaged(folder);
  const tableBytes = tableBytesOf(manifest);
  return { manifest, bytes: tableBytes + objects.bytes, copiedBytes: tableBytes + objects.copiedBytes };
}

/** @returns null for a damaged manifest: a new backup does not depend on it. */
async function readUndamaged(folder: BackupFolder, backup: BackupName): Promise<Manifest | null> {
  try {
    return await readManifest(folder, backup);
  } catch (error) {
    if (error instanceof BackupDamagedError) return null;
    throw error;
  }
}

/** Writes every table of a snapshot. */
export async function copyTables(
  snapshot: Snapshot,
  folder: BackupFolder,
  prefix: string,
  onProgress: (progress: BackupProgress) => void,
): Promise<Manifest["tables"]> {
  const written = new Map<string, Manifest["tables"][number]>();
  await forEachConcurrent(snapshot.tables, readersAtOnce, async (table) => {
    let rows = 0;
    const content = await snapshot.readTable(table, (count) => {
      rows = count;
    });
    const part = await folder.write(`${prefix}tables/${table.name}`, content, { compress: true });
    written.set(table.name, { name: table.name, columns: [...table.columns], rows, part });
    onProgress({ phase: "database", total: snapshot.tables.length, done: written.size });
  });
  return snapshot.tables.flatMap(({ name }) => written.get(name) ?? []);
}

/** The id of the installation in the database. */
export async function readInstallationId(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select id from installation");
  return rows[0]?.id ?? "";
}

async function countFiles(snapshot: Snapshot): Promise<number> {
  for await (const { count } of snapshot.rows<{ count: string }>(
    "select count(*) as count from stored_files",
  ))
    return Number(count);
  return 0;
}

/** The time as a name that sorts by time. */
export function newId(taken: readonly string[]): string {
  const id = new Date()
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(":", "");
  let number = 1;
  let unique = id;
  while (taken.includes(unique)) unique = `${id}-${++number}`;
  return unique;
}

/** Removes the files of one backup, except those it shares with others. */
export async function removeBackup(folder: BackupFolder, id: string): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of folder.store.list(`${backupsPrefix}${id}/`)) keys.push(key);
  // First the manifest: what is left when this is interrupted must not look complete.
  keys.sort((a, b) => Number(b.includes("/manifest.")) - Number(a.includes("/manifest.")));
  for (const key of keys) await folder.store.delete(key);
}
