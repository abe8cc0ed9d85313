import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { forEachConcurrent } from "../../platform/concurrency.ts";
import { openSecrets, WrongSecretError } from "../../platform/crypto/secret.ts";
import { releaseBackupLock, takeBackupLock } from "../../platform/db/backup-lock.ts";
import {
  importsPrefix,
  notesPrefix,
  ownerOf,
  recordingsPrefix,
  uploadFileKey,
  uploadsPrefix,
} from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { needsFile } from "../../processing/uploads/lifecycle/upload-file.ts";
import { findFileOwners } from "../../processing/uploads/media-queries.ts";
import { copyFile } from "./copy-files.ts";
import { MoveError } from "./errors.ts";
import { changeStores, type Migrating } from "./migration.ts";
import { readStores } from "./stores.ts";
import { waitForProcesses } from "./wait-for-processes.ts";

/** Files removed at a time, and between two moments in which a backup may begin. */
const removalsAtOnce = 6;
const batchSize = 300;
const backupPollMs = 1000;

const hourMs = 3_600_000;

/** Links to thumbnails that earlier versions handed out live for up to two hours; clocks may differ a little. */
const shortLinksMs = 2 * hourMs + 60_000;

/** Parley's own objects: the secret, the marker and the ends of the audit log. */
const ownPrefix = "parley/";

/**
 * Removes all files from the source of a migration and ends it. Files of uploads in progress are copied first; every other
 * file is removed only if the target has it.
 * @returns how many files were removed.
 * @throws MoveError while something may still use the source.
 */
export async function removeSource(migrating: Migrating): Promise<number> {
  const { client, source, config, onProgress } = migrating;
  const { step } = await readStores(client, config);
  if (!(await takeBackupLock(client)))
    throw new MoveError(
      "a backup is running, which may need the files of the source; run this again when it has finished",
    );
  if ((await waitForProcesses(migrating, step, 0)).length > 0)
    throw new MoveError("some processes still write to the source; run this again in a moment");
  await checkSecret(migrating);
  await checkUrls(migrating);
  await checkAppends(migrating);
  if (migrating.migration.state !== "removing")
    await changeStores(client, () => client.query("update store_migration set state = 'removing'"));
  await releaseBackupLock(client);
  let removed = 0;
  for await (const keys of batchesOf(source)) {
    await lockOutBackups(client);
    await forEachConcurrent(keys, removalsAtOnce, async (key) => {
      await secure(migrating, key);
      await source.delete(key);
      removed += 1;
      onProgress({ phase: "removing", total: migrating.migration.files, done: removed });
    });
    await releaseBackupLock(client);
  }
  await lockOutBackups(client);
  for await (const { key } of source.listAppends(uploadsPrefix)) await source.dropAppend(key);
  for await (const { key } of source.list(ownPrefix)) await source.delete(key);
  await changeStores(client, () => client.query("delete from store_migration"));
  return removed;
}

async function* batchesOf(source: ObjectStore): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  for (const prefix of [uploadsPrefix, importsPrefix, notesPrefix, recordingsPrefix]) {
    for await (const { key } of source.list(prefix)) {
      batch.push(key);
      if (batch.length < batchSize) continue;
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}

/** Between batches a backup may run; the removal continues when it has finished. */
async function lockOutBackups(client: pg.Client): Promise<void> {
  while (!(await takeBackupLock(client))) await sleep(backupPollMs);
}

/** Makes sure that the target has a file that is still needed. */
async function secure(migrating: Migrating, key: string): Promise<void> {
  const { source, target, client } = migrating;
  if (!key.startsWith(uploadsPrefix)) {
    if ((await target.head(key)) === null) await copyFile(source, target, key, null);
    return;
  }
  const id = ownerOf(key);
  if (id === null || key !== uploadFileKey(id) || !(await isNeeded(migrating, id))) return;
  const before = await source.head(key);
  const copied = await copyFile(source, target, key, null);
  if (before !== null && copied !== null)
    await client.query("update uploads set file_etag = $3 where id = $1 and file_etag = $2", [
      id,
      before.etag,
      copied.etag,
    ]);
}

async function isNeeded({ db }: Migrating, uploadId: string): Promise<boolean> {
  const upload = (await findFileOwners(db.kysely, [uploadId])).get(uploadId);
  return upload !== undefined && needsFile(upload);
}

/** @throws MoveError unless processes could start with the secret in the target, when there is no other. */
async function checkSecret({ db, config, target, migration }: Migrating): Promise<void> {
  if (config.secret !== null) return;
  try {
    await openSecrets(null, target, db, { isReader: true });
  } catch (error) {
    if (!(error instanceof WrongSecretError)) throw error;
    throw new MoveError(
      `the source is needed: the object parley/secret of the ${migration.target} file store is not the secret of this database. Copy that of the ${migration.source} file store there, and run this again`,
    );
  }
}

/** @throws MoveError while a signed URL of the source is valid. */
async function checkUrls({ client, source, config, migration }: Migrating): Promise<void> {
  if (source.kind !== "s3" || migration.switched_at === null) return;
  const { rows } = await client.query<{ until: Date | null }>(
    `select max(url_expires_at) as until from uploads
     where created_at <= $1 and media_type <> 'transcript' and one_step is null`,
    [migration.switched_at],
  );
  const downloadsMs = Math.max(config.downloadUrlTtlMs, shortLinksMs);
  const until = Math.max(rows[0]?.until?.getTime() ?? 0, migration.switched_at.getTime() + downloadsMs);
  if (until > Date.now())
    throw new MoveError(
      `all files are in the ${migration.target} file store, but signed URLs of the source are valid until ${new Date(until).toISOString()}; run this again then`,
    );
}

/** @throws MoveError while an upload is being sent to the source in pieces. */
async function checkAppends(migrating: Migrating): Promise<void> {
  let unfinished = 0;
  for await (const { key } of migrating.source.listAppends(uploadsPrefix)) {
    const id = ownerOf(key);
    if (id !== null && (await isNeeded(migrating, id))) unfinished += 1;
  }
  if (unfinished > 0)
    throw new MoveError(
      `all files are in the ${migrating.migration.target} file store, but ${unfinished} resumable ${unfinished === 1 ? "upload" : "uploads"} that began before continue in the source; run this again when they have finished or expired`,
    );
}
