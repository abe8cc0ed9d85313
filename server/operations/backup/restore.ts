import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type pg from "pg";
import { anchorPrefix } from "../../governance/audit/anchor.ts";
import { createSemaphore, forEachConcurrent, forEachStreamed } from "../../platform/concurrency.ts";
import type { Config } from "../../platform/config/config.ts";
import { parseSecrets, storeSecrets } from "../../platform/crypto/secret.ts";
import type { ConnectionSettings, Database } from "../../platform/db/database.ts";
import { readMigrations, readSchema } from "../../platform/db/migrate.ts";
import { contentTypeOf, uploadsPrefix } from "../../platform/storage/layout.ts";
import { type ObjectInfo, ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { fingerprintOf } from "../../processing/integrity/stored-files.ts";
import { markKey, writeMarker } from "../storage-maintenance/owner-marker.ts";
import { checkFiles, confirmDamage, nameDamage, partsOf } from "./check.ts";
import type { BackupProgress } from "./create.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";
import { type BackupFolder, isSmall } from "./folder.ts";
import { findOwnTables, loadDatabase, migrationsOf } from "./load.ts";
import {
  type BackedUpObject,
  checkOwner,
  filePrefixes,
  type Manifest,
  readFullBackup,
  readObjects,
} from "./manifest.ts";
import { batchesOf, removalsAtOnce } from "./prune.ts";
import { checkUnused, connectForCopy } from "./snapshot.ts";

/** Files copied at a time. */
const copiesAtOnce = 6;

/** Small ones on this machine, which wait for the disk in groups: two groups, so that one is read while one is written. */
const smallCopiesAtOnce = 256;

/** Keys compared at a time, so that memory does not grow with the number of files. */
const keysAtOnce = 200_000;

/** Names the backup while its files are copied, so that an interrupted restore can continue or begin again. */
const restoringKey = "parley/restoring";

/** Where to restore to. */
export interface Target {
  readonly db: Database;
  readonly settings: ConnectionSettings;
  readonly store: ObjectStore;
  readonly config: Config;
  /** Brings the schema to this program's version. */
  migrate(): Promise<unknown>;
}

export interface RestoreOptions {
  /** Null: the newest. */
  readonly id: string | null;
  /** Delete what database and store have. */
  readonly replace: boolean;
  /** Restore everything else when files of the object store are missing or damaged in the backup. */
  readonly acceptsMissing: boolean;
}

/** A file that the restored installation lacks, or has as it was: damaged. */
interface LostFile {
  readonly key: string;
  readonly problem: string;
}

/** What was restored, or would be. */
export interface RestoreResult {
  readonly manifest: Manifest;
  /** How many files. */
  readonly files: number;
  readonly lost: readonly LostFile[];
  /** The file in the data folder that lists them; null for a dry run, and if there are none. */
  readonly listedIn: string | null;
}

/**
 * Restores a backup into the configured database and store. Files come first; the database is loaded in one transaction,
 * whose commit completes the restore. Interrupted before, the database is unchanged, and running it again continues; the
 * restore of another backup begins again. When it replaces an installation, files that the backup does not have are removed
 * at the end: run it again until it has finished.
 * The restored installation is quarantined: see platform/db/quarantine.ts.
 * @throws BackupError if the target is not empty or in use; BackupDamagedError that names the damaged parts.
 */
export async function restoreBackup(
  folder: BackupFolder,
  target: Target,
  { id, replace, acceptsMissing }: RestoreOptions,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<RestoreResult> {
  const { settings, store, config } = target;
  const { manifest, secret, interrupted } = await prepare(folder, target, { id, replace });
  // Before anything changes: a damaged part must not leave a half-replaced installation. The content is compared when it is
  // loaded.
  await checkOwner(folder, manifest);
  await forEachConcurrent(partsOf(manifest), copiesAtOnce, (part) => folder.checkStored(part));
  const isContinued = interrupted === manifest.id;
  if (interrupted !== null && !isContinued) await removeFiles(store);
  // Files of what is replaced may have the size of those of the backup: no later restore may take them for its own.
  await store.put(restoringKey, Buffer.from(replace ? `${manifest.id}, replacing` : manifest.id));
  const { etags, damaged, absent } = await restoreObjects(folder, store, manifest, isContinued, onProgress);
  if (damaged.length > 0 && !acceptsMissing)
    throw new BackupDamagedError(
      `${describeDamaged(manifest, damaged)}. The database is unchanged; the next restore continues with the files that were restored, or removes them`,
    );
  const lost = [...damaged, ...lostBefore(manifest, absent)];
  const listedIn = lost.length > 0 ? await listLost(config.dataDir, manifest, lost) : null;
  let done = 0;
  await loadDatabase(
    settings,
    {
      ...manifest,
      open: ({ part }) => folder.read(part),
    },
    {
      replace,
      onTable: () => onProgress({ phase: "database", total: manifest.tables.length, done: done++ }),
      finish: async (client) => {
        await finishDatabase(client, store, manifest, etags);
        await noteMissing(client, [...damaged.map(({ key }) => key), ...absent]);
        if (config.secret === null) await storeSecrets(store, [secret]);
      },
    },
  );
  await target.migrate();
  await removeAnchors(store);
  if (replace) await removeOthers(folder, store, manifest, damaged);
  await store.delete(restoringKey);
  return { manifest, files: manifest.objects.count - damaged.length, lost, listedIn };
}

/**
 * Reads the backup and checks the target as a restore does, and changes nothing.
 * @param target null for a database or store that the restore will create.
 * @throws what the restore would throw.
 */
export async function checkRestore(
  folder: BackupFolder,
  target: Pick<Target, "config"> & {
    readonly settings: ConnectionSettings | null;
    readonly store: ObjectStore | null;
  },
  { id, replace, acceptsMissing }: RestoreOptions,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<RestoreResult> {
  const { manifest } = await prepare(folder, target, { id, replace });
  const { problems, objects } = await checkFiles(folder, manifest, onProgress);
  if (problems.length > objects.length)
    throw new BackupDamagedError(
      `${nameDamage({ manifest, problems })}. Restore another backup with \`--at\`; \`parley backup list\` names them`,
    );
  if (objects.length > 0 && !acceptsMissing) throw new BackupDamagedError(describeDamaged(manifest, objects));
  const absent = new Set(manifest.damaged);
  for await (const { key } of readObjects(folder, manifest)) absent.delete(key);
  const lost = [...objects.map(({ key, problem }) => ({ key, problem })), ...lostBefore(manifest, absent)];
  return { manifest, files: manifest.objects.count - objects.length, lost, listedIn: null };
}

/** The damaged files with the remedy: other backups share them. */
function describeDamaged(manifest: Manifest, damaged: readonly LostFile[]): string {
  const problems = damaged.slice(0, maxNamed).map(({ problem }) => problem);
  if (damaged.length > maxNamed) problems.push(`and ${damaged.length - maxNamed} more files`);
  return `${nameDamage({ manifest, problems })}. Other backups may share these files. To restore everything else, run this again with \`--accept-missing-files\`; if the original installation still runs, \`parley backup verify\` and \`parley backup\` there copy them again`;
}

/** Damaged files that an error names; all are listed when they are accepted. */
const maxNamed = 20;

/** What the original installation had lost before. @param absent keys of files that the backup does not have. */
function lostBefore({ damaged }: Manifest, absent: ReadonlySet<string>): LostFile[] {
  return damaged.map((key) => ({
    key,
    problem: absent.has(key)
      ? `${key} was missing when it was to be backed up`
      : `${key} was damaged when it was backed up, and is restored as it was`,
  }));
}

/** Writes the list of files that the restored installation lacks. @returns the path. */
async function listLost(dataDir: string, { id }: Manifest, lost: readonly LostFile[]): Promise<string> {
  const path = join(dataDir, `missing-files-${id}.txt`);
  await writeFile(path, lost.map(({ key, problem }) => `${key}: ${problem}\n`).join(""), {
    mode: 0o600,
    flush: true,
  });
  return path;
}

/** Reads what a restore begins with, and checks where it is to go. */
async function prepare(
  folder: BackupFolder,
  target: Pick<Target, "config"> & Parameters<typeof checkTarget>[0],
  { id, replace }: Pick<RestoreOptions, "id" | "replace">,
): Promise<{ readonly manifest: Manifest; readonly secret: string; readonly interrupted: string | null }> {
  const manifest = await readFullBackup(folder, id);
  checkVersion(manifest);
  const secret = await text(await folder.read(manifest.secret));
  const configured = target.config.secret;
  if (configured !== null && configured !== secret) {
    const given = parseSecrets(configured);
    if (!parseSecrets(secret).every((one) => given.includes(one)))
      throw new BackupError(
        "PARLEY_SECRET lacks a secret of this backup. If it was rotated since, add the one from before, after the present one and a comma; or unset it to use the backup's. Without it, links and stored secrets can't be read",
      );
  }
  return { manifest, secret, interrupted: await checkTarget(target, manifest, replace) };
}

function checkVersion(manifest: Manifest): void {
  const { migration, parley } = manifest;
  if (migration > Math.max(...readMigrations().map(({ number }) => number)))
    throw new BackupError(
      `the backup is from Parley ${parley}, which is newer than this version; restore it with Parley ${parley}`,
    );
  migrationsOf(manifest);
}

/** @returns the backup whose restore into this store was interrupted, so that its files can be used; null: none. */
async function checkTarget(
  { settings, store }: { readonly settings: ConnectionSettings | null; readonly store: ObjectStore | null },
  { id, tables }: Manifest,
  replace: boolean,
): Promise<string | null> {
  if (settings !== null) await checkDatabase(settings, tables, replace);
  if (store === null || replace) return null;
  const interrupted = await readInterrupted(store);
  // A store with an owner marker may belong to an installation by now.
  if (interrupted === id || (interrupted !== null && (await store.head(markKey)) === null))
    return interrupted;
  for (const prefix of filePrefixes)
    for await (const { key } of store.list(prefix))
      throw new BackupError(
        `the configured file store is not empty: it has ${key}. Configure an empty one, or add \`--replace --yes\` to delete its contents`,
      );
  return null;
}

async function checkDatabase(
  settings: ConnectionSettings,
  tables: Manifest["tables"],
  replace: boolean,
): Promise<void> {
  await checkUnused(settings);
  const client = await connectForCopy(settings);
  try {
    await findOwnTables(client, tables);
  } finally {
    await client.end();
  }
  if (!replace && !(await readSchema(settings)).isEmpty)
    throw new BackupError(
      "the configured database already has an installation. Configure an empty one, or add `--replace --yes` to delete its contents",
    );
}

async function readInterrupted(store: ObjectStore): Promise<string | null> {
  try {
    return await text((await store.get(restoringKey)).body);
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

/** Removes what the interrupted restore of another backup has left. */
async function removeFiles(store: ObjectStore): Promise<void> {
  for (const prefix of filePrefixes)
    for await (const keys of batchesOf(store.list(prefix), keysAtOnce))
      await forEachConcurrent(keys, removalsAtOnce, (key) => store.delete(key));
}

/** What restoring the files came to. */
interface RestoredObjects {
  /** The etags that files of uploads have in this store, by key. */
  readonly etags: ReadonlyMap<string, string>;
  /** Files that are missing or damaged in the backup. */
  readonly damaged: readonly LostFile[];
  /** Keys of files that the backup never had. */
  readonly absent: ReadonlySet<string>;
}

/** Restores every file that the backup has intact. */
async function restoreObjects(
  folder: BackupFolder,
  store: ObjectStore,
  manifest: Manifest,
  isContinued: boolean,
  onProgress: (progress: BackupProgress) => void,
): Promise<RestoredObjects> {
  const etags = new Map<string, string>();
  const damaged: LostFile[] = [];
  const absent = new Set(manifest.damaged);
  const large = createSemaphore(copiesAtOnce);
  const isLocal = store.kind === "local" && folder.store.kind === "local";
  let [done, bytes] = [0, 0];
  async function restore(object: BackedUpObject): Promise<void> {
    absent.delete(object.key);
    const present = isContinued ? await store.head(object.key) : null;
    const info = present?.size === object.bytes ? present : await restoreObject(object);
    if (info !== null && object.key.startsWith(uploadsPrefix)) etags.set(object.key, info.etag);
    done += 1;
    bytes += object.bytes;
    onProgress({ phase: "files", total: manifest.objects.count, done, bytes });
  }
  async function restoreObject(object: BackedUpObject): Promise<ObjectInfo | null> {
    try {
      return await confirmDamage(folder, object.name, async () =>
        isSmall(object)
          ? store.put(object.key, await folder.readSmall(object), { contentType: contentTypeOf(object.key) })
          : large.run(async () => writeObject(store, object.key, await folder.read(object))),
      );
    } catch (error) {
      if (!(error instanceof BackupDamagedError)) throw error;
      const intact = await findIntact(store, object);
      if (intact === null) damaged.push({ key: object.key, problem: error.message });
      return intact;
    }
  }
  const objects = readObjects(folder, manifest);
  const concurrency = isLocal ? smallCopiesAtOnce : copiesAtOnce;
  for await (const _ of forEachStreamed(objects, concurrency, restore));
  return { etags, damaged, absent };
}

/** The same file, if the store that is replaced has it. */
async function findIntact(
  store: ObjectStore,
  { key, bytes, sha256 }: BackedUpObject,
): Promise<ObjectInfo | null> {
  const info = await store.head(key);
  if (info?.size !== bytes) return null;
  const found = await fingerprintOf((await store.get(key)).body);
  return found.sha256.toString("hex") === sha256 ? info : null;
}

/**
 * Removes the files of what was replaced. Interrupted, the same restore removes the rest when it is run again.
 * @param damaged files of the backup that were not restored: what the store has in their place is not what they were.
 */
async function removeOthers(
  folder: BackupFolder,
  store: ObjectStore,
  manifest: Manifest,
  damaged: readonly LostFile[],
): Promise<void> {
  const unrestored = new Set(damaged.map(({ key }) => key));
  for (const prefix of filePrefixes)
    for await (const keys of batchesOf(store.list(prefix), keysAtOnce)) {
      const others = new Set(keys);
      for await (const { key } of readObjects(folder, manifest)) if (!unrestored.has(key)) others.delete(key);
      await forEachConcurrent([...others], removalsAtOnce, (key) => store.delete(key));
    }
  const appends = store.listAppends(uploadsPrefix);
  for await (const _ of forEachStreamed(appends, removalsAtOnce, ({ key }) => store.dropAppend(key)));
}

/** Ends of the audit log of what was replaced; the next worker writes those of the restored log. */
async function removeAnchors(store: ObjectStore): Promise<void> {
  const keys: string[] = [];
  for await (const { key } of store.list(anchorPrefix)) keys.push(key);
  for (const key of keys) await store.delete(key);
}

/** The store reports a broken body; the reason is the body's own error. */
async function writeObject(store: ObjectStore, key: string, body: Awaited<ReturnType<BackupFolder["read"]>>) {
  try {
    return await store.put(key, body, { contentType: contentTypeOf(key) });
  } catch (error) {
    throw body.errored ?? error;
  }
}

/** Marks files that the installation lacks, as a check of its files does. */
async function noteMissing(client: pg.Client, keys: readonly string[]): Promise<void> {
  await client.query(
    "update stored_files set damage = 'missing', checked_at = now() where key = any($1::text[])",
    [keys],
  );
}

/** What differs between a backup and the installation that it becomes, in the transaction that loads it. */
async function finishDatabase(
  client: pg.Client,
  store: ObjectStore,
  manifest: Manifest,
  etags: ReadonlyMap<string, string>,
): Promise<void> {
  for (const [key, etag] of etags)
    await client.query("update uploads set file_etag = $2 where id = $1 and file_etag is not null", [
      key.split("/")[1],
      etag,
    ]);
  await client.query("update audit_chains set anchored_position = 0");
  await client.query("update hooks set leased_by = null, leased_until = null where leased_by is not null");
  await client.query("delete from clock_guard");
  // Where the original had its files says nothing about the copy. Older backups don't have the table.
  await client.query(`do $$ begin
    if to_regclass('store_migration') is not null then
      delete from store_migration;
      update installation set store_kind = null;
    end if;
  end $$`);
  const storeId = randomUUID();
  const { rows } = await client.query<{ id: string; swept_event_id: string }>(
    `update installation set store_id = $1, restored_backup = $2, quarantined_at = clock_timestamp()
     returning id, swept_event_id`,
    [storeId, manifest.id],
  );
  const [row] = rows;
  if (row === undefined) throw new BackupDamagedError("the backup has no installation");
  // Before the commit: a database without its marker would be taken for one with another store.
  await writeMarker(store, { installation: row.id, high: Number(row.swept_event_id), store: storeId });
}
