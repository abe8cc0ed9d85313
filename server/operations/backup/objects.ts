import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createSemaphore, forEachStreamed } from "../../platform/concurrency.ts";
import { isKey } from "../../platform/storage/key-rules.ts";
import { importsPrefix, uploadFileKey, uploadsPrefix } from "../../platform/storage/layout.ts";
import { readSmall } from "../../platform/storage/read-small.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { BackupDamagedError } from "./errors.ts";
import { type BackupFolder, ContentDiffersError, isSmall, type Part } from "./folder.ts";
import {
  type BackedUpObject,
  linesOf,
  type Manifest,
  objectsPrefix,
  readDamaged,
  readObjects,
} from "./manifest.ts";
import type { Snapshot } from "./snapshot.ts";

/** Files copied at a time: enough to hide the latency of a bucket, or of a disk that has to confirm each file. */
const copiesAtOnce = 16;

/** Small ones on this machine, which wait for the disk in groups: two groups, so that one is read while one is written. */
const smallCopiesAtOnce = 256;

/** A file that the snapshot refers to; size and digest are null where the database does not know them. */
interface Wanted {
  readonly key: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
}

/** What the database knows of a file. */
type Known = Pick<Part, "bytes" | "sha256">;

/** Names of files that an operator put into imports/ may be longer than those of a backup, which add a digest. */
const maxKeyLength = 400;

/** How far a copy of objects is. */
export interface ObjectProgress {
  /** Files and bytes so far, of those that the database knows. */
  readonly files: number;
  readonly bytes: number;
  readonly copiedBytes: number;
}

/** What was copied. */
export interface ObjectResult {
  readonly part: Part;
  readonly count: number;
  readonly bytes: number;
  readonly copiedBytes: number;
  /** Keys of files that are missing or are not what was stored. */
  readonly damaged: readonly string[];
}

/**
 * Writes the keys of all files that the snapshot refers to into a file on this machine: files of recordings, and those of
 * uploads that are in progress.
 */
export async function listWanted(snapshot: Snapshot, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  async function* lines(): AsyncGenerator<string> {
    // Also those that are damaged by now: an earlier backup may have them.
    for await (const { key, bytes, sha256 } of snapshot.rows<{ key: string; bytes: string; sha256: string }>(
      "select key, bytes, encode(sha256, 'hex') as sha256 from stored_files order by key",
    ))
      yield `${JSON.stringify({ key, bytes: Number(bytes), sha256 })}\n`;
    for await (const { id } of snapshot.rows<{ id: string }>(
      `select id from uploads where media_type <> 'transcript' and status not in ('success', 'failure') order by id`,
    ))
      yield `${JSON.stringify({ key: uploadFileKey(id), bytes: null, sha256: null })}\n`;
  }
  await pipeline(Readable.from(lines()), createWriteStream(path, { mode: 0o600 }));
}

/**
 * Copies all files that are not in the folder yet, and writes the list of them. Files are immutable: one that was copied
 * under the same key with the same digest is not read again, unless a verification found it damaged.
 * @param wanted path of the list that `listWanted` wrote.
 * @param previous the last backup; its files that the database has no digest of are not copied again.
 */
export async function copyObjects(
  folder: BackupFolder,
  store: ObjectStore,
  { wanted, previous, listName }: { wanted: string; previous: Manifest | null; listName: string },
  onProgress: (progress: ObjectProgress) => void,
): Promise<ObjectResult> {
  const earlier = await readUnfingerprinted(folder, previous);
  const foundDamaged = await readDamaged(folder);
  const damaged: string[] = [];
  const done: BackedUpObject[] = [];
  const progress = { files: 0, bytes: 0, copiedBytes: 0 };
  const suffix = folder.isEncrypted ? ".age" : "";
  const large = createSemaphore(copiesAtOnce);
  const isLocal = store.kind === "local" && folder.store.kind === "local";

  async function copy(key: string, tag: string, known: Known | null): Promise<BackedUpObject | null> {
    const name = `${objectsPrefix}${key}/${tag}`;
    const expected = known ?? earlier.get(`${name}${suffix}`);
    if (expected !== undefined && !foundDamaged.has(`${name}${suffix}`)) {
      const info = await folder.store.head(`${name}${suffix}`);
      // A file of another size was damaged there.
      if (info?.size === folder.storedSize(expected.bytes))
        return { key, name: `${name}${suffix}`, bytes: expected.bytes, sha256: expected.sha256 };
    }
    try {
      const part = await (known !== null && isSmall(known)
        ? copySmall(key, name, known)
        : large.run(async () =>
            folder.write(name, (await store.get(key)).body, known === null ? {} : { expected: known }),
          ));
      progress.copiedBytes += part.bytes;
      return { key, ...part };
    } catch (error) {
      if (error instanceof ContentDiffersError) {
        damaged.push(key);
        // As it is: a damaged recording may still be worth having.
        return copyUnknown(key);
      }
      const isUnreadable = (error as { code?: unknown }).code === "EIO";
      if (!(error instanceof ObjectMissingError || isUnreadable)) throw error;
      damaged.push(key);
      return null;
    }
  }

  async function copySmall(key: string, name: string, known: Known): Promise<Part> {
    const content = await readSmall(store, key, known.bytes);
    if (content === null) throw new ContentDiffersError(`the size of ${key} has changed since it was stored`);
    return folder.write(name, content, { expected: known });
  }

  /** Copies a file of which the database has no digest. @returns null if there is none yet. */
  async function copyUnknown(key: string): Promise<BackedUpObject | null> {
    const info = await store.head(key);
    return info === null || info.size === 0 ? null : copy(key, info.etag, null);
  }

  async function copyWanted({ key, bytes, sha256 }: Wanted): Promise<void> {
    const isKnown = bytes !== null && sha256 !== null;
    const copied = await (isKnown ? copy(key, sha256, { bytes, sha256 }) : copyUnknown(key));
    if (copied !== null) {
      done.push(copied);
      progress.files += 1;
      progress.bytes += copied.bytes;
    }
    onProgress(progress);
  }

  async function* lines(): AsyncGenerator<Buffer> {
    for await (const _ of forEachStreamed(
      allWanted(store, wanted),
      isLocal ? smallCopiesAtOnce : copiesAtOnce,
      copyWanted,
    ))
      yield Buffer.from(
        done
          .splice(0)
          .map((object) => `${JSON.stringify(object)}\n`)
          .join(""),
      );
  }

  const part = await folder.write(listName, Readable.from(lines()), { compress: true });
  return { part, count: progress.files, bytes: progress.bytes, copiedBytes: progress.copiedBytes, damaged };
}

async function* allWanted(store: ObjectStore, path: string): AsyncGenerator<Wanted> {
  for await (const line of linesOf(createReadStream(path))) yield JSON.parse(line) as Wanted;
  for await (const { key } of store.list(importsPrefix))
    if (isKey(key) && key.length <= maxKeyLength) yield { key, bytes: null, sha256: null };
  await rm(path, { force: true });
}

/** Files of uploads and imports in the last backup, by name: the database has no digest of them. */
async function readUnfingerprinted(
  folder: BackupFolder,
  previous: Manifest | null,
): Promise<ReadonlyMap<string, BackedUpObject>> {
  const known = new Map<string, BackedUpObject>();
  if (previous === null) return known;
  try {
    for await (const object of readObjects(folder, previous))
      if (object.key.startsWith(uploadsPrefix) || object.key.startsWith(importsPrefix))
        known.set(object.name, object);
    return known;
  } catch (error) {
    // The next backup does not depend on a damaged one: it copies these files again.
    if (error instanceof BackupDamagedError) return new Map();
    throw error;
  }
}
