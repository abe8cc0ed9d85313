import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";
import type pg from "pg";
import { anchorPrefix } from "../audit/anchor.ts";
import { forEachConcurrent, forEachStreamed } from "../platform/concurrency.ts";
import type { Config } from "../platform/config/config.ts";
import { storeSecret } from "../platform/crypto/secret.ts";
import type { ConnectionSettings, Database } from "../platform/db/database.ts";
import { readMigrations, readSchema } from "../platform/db/migrate.ts";
import { migrateJobs } from "../platform/jobs/queue.ts";
import { contentTypeOf, importsPrefix, recordingsPrefix, uploadsPrefix } from "../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../platform/storage/store.ts";
import { writeMarker } from "../storage-maintenance/owner-marker.ts";
import { checkFiles, nameDamage, partsOf } from "./check.ts";
import type { BackupProgress } from "./create.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";
import type { BackupFolder } from "./folder.ts";
import { loadDatabase } from "./load.ts";
import { type BackedUpObject, checkOwner, type Manifest, readFullBackup, readObjects } from "./manifest.ts";
import { batchesOf, removalsAtOnce } from "./prune.ts";
import { checkUnused } from "./snapshot.ts";

/** Files copied at a time. */
const copiesAtOnce = 6;

/** Where the files of an installation are. */
const filePrefixes = [uploadsPrefix, recordingsPrefix, importsPrefix];

/** Keys compared at a time, so that memory does not grow with the number of files. */
const keysAtOnce = 200_000;

/** Names the backup while its files are copied, so that an interrupted restore can continue. */
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
  /** Read and check every file, check the target, and change nothing. */
  readonly isDryRun: boolean;
}

/**
 * Restores a backup into the configured database and store. Files come first; the database is loaded in one transaction,
 * whose commit completes the restore. Interrupted before, the database is unchanged, and running it again continues. When
 * it replaces an installation, files that the backup does not have are removed at the end: run it again until it has
 * finished.
 * The restored installation is quarantined: see platform/db/quarantine.ts.
 * @throws BackupError if the target is not empty or in use; BackupDamagedError that names the damaged part.
 */
export async function restoreBackup(
  folder: BackupFolder,
  target: Target,
  { id, replace, isDryRun }: RestoreOptions,
  onProgress: (progress: BackupProgress) => void = () => {},
): Promise<Manifest> {
  const { db, settings, store, config } = target;
  const manifest = await readFullBackup(folder, id);
  checkVersion(manifest);
  const secret = await text(await folder.read(manifest.secret));
  if (config.secret !== null && config.secret !== secret)
    throw new BackupError(
      "PARLEY_SECRET is not the secret of this backup; unset it to use the backup's, without which links and stored secrets can't be read",
    );
  const isContinued = await checkTarget(target, manifest, replace);
  if (isDryRun) {
    const { problems } = await checkFiles(folder, manifest, onProgress);
    if (problems.length > 0)
      throw new BackupDamagedError(
        `${nameDamage({ manifest, problems })}. Restore another backup with \`--at\`; \`parley backup list\` names them`,
      );
    return manifest;
  }
  // Before anything changes: a damaged part must not leave a half-replaced installation. The content is compared when it is
  // loaded.
  await checkOwner(folder, manifest);
  await forEachConcurrent(partsOf(manifest), copiesAtOnce, (part) => folder.checkStored(part));
  await store.put(restoringKey, Buffer.from(manifest.id));
  const etags = await restoreObjects(folder, store, manifest, isContinued && !replace, onProgress);
  await migrateJobs(db.pool);
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
        if (config.secret === null) await storeSecret(store, secret);
      },
    },
  );
  await target.migrate();
  await removeAnchors(store);
  if (replace) await removeOthers(folder, store, manifest);
  await store.delete(restoringKey);
  return manifest;
}

function checkVersion({ migration, parley }: Manifest): void {
  if (migration > Math.max(...readMigrations().map(({ number }) => number)))
    throw new BackupError(
      `the backup is from Parley ${parley}, which is newer than this version; restore it with Parley ${parley}`,
    );
}

/** @returns whether an interrupted restore of the same backup is to be continued. */
async function checkTarget(
  { settings, store }: Target,
  { id }: Manifest,
  replace: boolean,
): Promise<boolean> {
  await checkUnused(settings);
  const isContinued = (await readRestoring(store)) === id;
  if (replace) return isContinued;
  if (!(await readSchema(settings)).isEmpty)
    throw new BackupError(
      "the configured database already has an installation. Configure an empty one, or add `--replace --yes` to delete its contents",
    );
  for (const prefix of filePrefixes) {
    for await (const { key } of store.list(prefix)) {
      if (isContinued) break;
      throw new BackupError(
        `the configured file store is not empty: it has ${key}. Configure an empty one, or add \`--replace --yes\` to delete its contents`,
      );
    }
  }
  return isContinued;
}

async function readRestoring(store: ObjectStore): Promise<string | null> {
  try {
    return await text((await store.get(restoringKey)).body);
  } catch (error) {
    if (error instanceof ObjectMissingError) return null;
    throw error;
  }
}

/** @returns the etags that files of uploads have in this store, by key. */
async function restoreObjects(
  folder: BackupFolder,
  store: ObjectStore,
  manifest: Manifest,
  isContinued: boolean,
  onProgress: (progress: BackupProgress) => void,
): Promise<ReadonlyMap<string, string>> {
  const etags = new Map<string, string>();
  let [done, bytes] = [0, 0];
  async function restore(object: BackedUpObject): Promise<void> {
    const present = isContinued ? await store.head(object.key) : null;
    const info =
      present?.size === object.bytes
        ? present
        : await writeObject(store, object.key, await folder.read(object));
    if (object.key.startsWith(uploadsPrefix)) etags.set(object.key, info.etag);
    done += 1;
    bytes += object.bytes;
    onProgress({ phase: "files", total: manifest.objects.count, done, bytes });
  }
  for await (const _ of forEachStreamed(readObjects(folder, manifest), copiesAtOnce, restore));
  return etags;
}

/** Removes the files of what was replaced. Interrupted, the same restore removes the rest when it is run again. */
async function removeOthers(folder: BackupFolder, store: ObjectStore, manifest: Manifest): Promise<void> {
  for (const prefix of filePrefixes)
    for await (const keys of batchesOf(store.list(prefix), keysAtOnce)) {
      const others = new Set(keys);
      for await (const { key } of readObjects(folder, manifest)) others.delete(key);
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
