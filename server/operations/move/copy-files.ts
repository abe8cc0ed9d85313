import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { anchorPrefix } from "../../governance/audit/anchor.ts";
import { forEachConcurrent } from "../../platform/concurrency.ts";
import {
  contentTypeOf,
  importsPrefix,
  notesPrefix,
  recordingsPrefix,
} from "../../platform/storage/layout.ts";
import { ObjectExistsError, ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { fingerprintOf } from "../../processing/integrity/stored-files.ts";
import { MoveError } from "./errors.ts";
import type { Migrating } from "./migration.ts";

/** Files copied at a time, and after how many the position is stored. */
const copiesAtOnce = 6;
const batchSize = 60;

/** The network or a store may fail for a moment. */
const attempts = 3;
const retryMs = 1000;

/**
 * Prefixes of what is copied, in the order of keys. Files of uploads stay until their uploads end, or the source is removed:
 * processes know them by their store's etag.
 */
const prefixes = [importsPrefix, notesPrefix, anchorPrefix, recordingsPrefix];

/** Copies every file that is not copied yet. @returns numbers of all runs, and the damaged files of this one. */
export async function copyFiles(
  migrating: Migrating,
  onFile: (files: number, bytes: number) => void,
): Promise<{ readonly files: number; readonly bytes: number; readonly keys: readonly string[] }> {
  const { client, source, target, migration } = migrating;
  let { files, bytes } = migration;
  const keys: string[] = [];

  async function copyBatch(batch: readonly string[]): Promise<void> {
    const digests = await readDigests(migrating, batch);
    await forEachConcurrent(batch, copiesAtOnce, async (key) => {
      const digest = digests.get(key) ?? null;
      const copied = await copyFile(source, target, key, digest);
      if (copied === null) return;
      files += 1;
      bytes += copied.bytes;
      if (digest !== null && copied.sha256 !== digest) keys.push(key);
      onFile(files, bytes);
    });
    await client.query("update store_migration set copied_through = $1, files = $2, bytes = $3", [
      batch.at(-1),
      files,
      bytes,
    ]);
  }

  onFile(files, bytes);
  let batch: string[] = [];
  for (const prefix of prefixes) {
    for await (const { key } of source.list(prefix)) {
      if (migration.copied_through !== null && key <= migration.copied_through) continue;
      batch.push(key);
      if (batch.length < batchSize) continue;
      await copyBatch(batch);
      batch = [];
    }
  }
  if (batch.length > 0) await copyBatch(batch);
  return { files, bytes, keys };
}

/** The digests that the database knows, in hexadecimal. */
async function readDigests({ client }: Migrating, keys: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ key: string; sha256: string }>(
    "select key, encode(sha256, 'hex') as sha256 from stored_files where key = any($1)",
    [keys],
  );
  return new Map(rows.map(({ key, sha256 }) => [key, sha256]));
}

/** A file that both stores have now. */
interface CopiedFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly etag: string;
}

/**
 * Copies a file and reads it back. A file that the target has already is newer, unless the database says otherwise.
 * @param digest of the file as it was stored; null: unknown.
 * @returns null if the source does not have it any more.
 * @throws MoveError if the copy differs.
 */
export async function copyFile(
  source: ObjectStore,
  target: ObjectStore,
  key: string,
  digest: string | null,
): Promise<CopiedFile | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryCopy(source, target, key, digest);
    } catch (error) {
      if (error instanceof ObjectMissingError && (await source.head(key)) === null) return null;
      if (attempt === attempts)
        throw new MoveError(
          `${key} could not be copied: ${(error as Error).message}. If it can't be read, restore it from a backup or delete its recording; then run this again`,
          { cause: error },
        );
      await sleep(retryMs);
    }
  }
}

async function tryCopy(
  source: ObjectStore,
  target: ObjectStore,
  key: string,
  digest: string | null,
): Promise<CopiedFile | null> {
  const present = await target.head(key);
  if (present !== null) {
    const there = await digestIn(target, key);
    const isIntact = digest === null || there.sha256 === digest;
    if (isIntact || (await digestIn(source, key)).sha256 !== digest) return there;
    // The target's copy is damaged, the source's is not.
  }
  const { info, body } = await source.get(key);
  const hash = createHash("sha256");
  const hashed = Readable.from(hashing(body, hash), { objectMode: false });
  let written: { readonly etag: string };
  try {
    written = await target.put(key, hashed, {
      ifAbsent: present === null,
      contentLength: info.size,
      contentType: contentTypeOf(key),
    });
  } catch (error) {
    if (error instanceof ObjectExistsError) return await digestIn(target, key);
    throw error;
  } finally {
    hashed.destroy();
    body.destroy();
  }
  // It is deleted from the source first. A delete may have passed the target before the copy was there.
  if ((await source.head(key)) === null) {
    if ((await target.head(key))?.etag === written.etag) await target.delete(key);
    return null;
  }
  const copied = await digestIn(target, key);
  // Otherwise a process has replaced it in the meantime.
  if (copied.etag === written.etag && copied.sha256 !== hash.digest("hex"))
    throw new Error("the copy differs from the original");
  return copied;
}

async function* hashing(body: Readable, hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    hash.update(chunk as Buffer);
    yield chunk as Buffer;
  }
}

async function digestIn(store: ObjectStore, key: string): Promise<CopiedFile> {
  const { info, body } = await store.get(key);
  const { bytes, sha256 } = await fingerprintOf(body);
  return { bytes, sha256: sha256.toString("hex"), etag: info.etag };
}
