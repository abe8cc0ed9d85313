import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { sql } from "kysely";
import type { Executor } from "../../platform/db/database.ts";
import type { ObjectStore, PutOptions } from "../../platform/storage/store.ts";

/** A file's size and digest: enough to see later whether it still is the same. */
export interface FileFingerprint {
  readonly bytes: number;
  readonly sha256: Buffer;
}

/** A file in the store and its fingerprint when it was written. */
export interface StoredFile extends FileFingerprint {
  readonly key: string;
}

/** Reads a stream to its end, with constant memory. */
export async function fingerprintOf(stream: Readable): Promise<FileFingerprint> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of stream) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest() };
}

/** Fingerprints a file on this machine. */
export function fingerprintOfFile(path: string): Promise<FileFingerprint> {
  return fingerprintOf(createReadStream(path, { highWaterMark: 1 << 20 }));
}

/** Stores a file of this machine. */
export async function storeFile(
  store: ObjectStore,
  key: string,
  path: string,
  options: Pick<PutOptions, "contentType">,
): Promise<StoredFile> {
  const fingerprint = await fingerprintOfFile(path);
  await store.putFile(key, path, options);
  return { key, ...fingerprint };
}

/** Records what was stored for a recording, in the transaction that makes the files the recording's. */
export async function recordStoredFiles(
  tx: Executor,
  owner: { readonly recordingId: string; readonly clipId?: string },
  files: readonly StoredFile[],
): Promise<void> {
  if (files.length === 0) return;
  await tx
    .insertInto("stored_files")
    .values(
      files.map(({ key, bytes, sha256 }) => ({
        key,
        recording_id: owner.recordingId,
        workspace_id: sql<string>`(select workspace_id from recordings where id = ${owner.recordingId})`,
        clip_id: owner.clipId ?? null,
        bytes,
        sha256,
      })),
    )
    // A job that runs again stores the same files under the same names.
    .onConflict((conflict) =>
      conflict.column("key").doUpdateSet((excluded) => ({
        bytes: excluded.ref("excluded.bytes"),
        sha256: excluded.ref("excluded.sha256"),
        stored_at: excluded.ref("excluded.stored_at"),
        checked_at: excluded.ref("excluded.checked_at"),
        damage: null,
      })),
    )
    .execute();
}
