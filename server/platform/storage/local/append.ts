import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { readBody } from "../body.ts";
import { checkKey, checkPrefix } from "../key-rules.ts";
import {
  ObjectExistsError,
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  OffsetError,
} from "../store.ts";
import type { WriteTraffic } from "../write-traffic.ts";
import { writeChunks } from "./file-writer.ts";
import { failedWith, linkIfAbsent, placeBelow, removeBelow, walkFiles } from "./folders.ts";
import { infoOf, type LocalFolders, syncFile } from "./object-folders.ts";

/** Another call has finished or dropped the append in the meantime. */
class PartialGone extends Error {}

type Appends = Pick<ObjectStore, "append" | "appended" | "finishAppend" | "dropAppend" | "listAppends">;

/**
 * Resumable writing to files: the bytes of a key are collected in a file of its own in `.partial`, and finishing links
 * it to its key. A crash between that and the removal of the first name leaves one file with two names.
 */
export function localAppends(
  folders: LocalFolders,
  traffic: WriteTraffic,
  head: ObjectStore["head"],
): Appends {
  const { root, partial } = folders;
  const partialOf = (key: string): string => {
    checkKey(key);
    return join(partial, key);
  };

  /** The error for an append that no longer exists. */
  const finished = async (key: string): Promise<ObjectInfo> => {
    const info = await head(key);
    if (info === null) throw new ObjectMissingError(`nothing was appended for ${key}`);
    return info;
  };

  return {
    async append(key, offset, body, options = {}) {
      const { maxBytes, signal } = options;
      const file = await openPartial(partial, partialOf(key), offset);
      try {
        const stats = await file.stat();
        if (stats.nlink > 1) throw new ObjectExistsError(`${key} is finished`);
        if (stats.size !== offset)
          throw new OffsetError(`${key} continues at byte ${stats.size}, not at ${offset}`);
        const rules = {
          ...(maxBytes !== undefined && { maxBytes: Math.max(0, maxBytes - offset) }),
          ...(signal && { signal }),
        };
        try {
          return await writeChunks(file, offset, readBody(body, rules), traffic);
        } finally {
          // The bytes before a broken connection are reported as stored, too.
          await file.sync();
        }
      } finally {
        await file.close();
      }
    },
    async appended(key) {
      const stats = await statFile(partialOf(key));
      return stats === null ? null : { offset: Number(stats.size), modifiedAt: stats.mtime };
    },
    async finishAppend(key) {
      const path = partialOf(key);
      const stats = await statFile(path);
      if (stats === null) return finished(key);
      const place = join(root, key);
      try {
        await syncFile(path);
        await placeBelow(root, place, async () => {
          try {
            await linkIfAbsent(path, place, key);
          } catch (error) {
            // The folder is not the cause, so a retry would fail as well.
            if (failedWith(error, "ENOENT") && (await statFile(path)) === null) throw new PartialGone();
            const taken = error instanceof ObjectExistsError ? await statFile(place) : null;
            // An earlier call got as far as the link.
            if (taken === null || taken.ino !== stats.ino) throw error;
          }
        });
      } catch (error) {
        const isGone = error instanceof PartialGone || failedWith(error, "ENOENT");
        if (!isGone || (await statFile(path)) !== null) throw error;
        return finished(key);
      }
      await removeBelow(partial, path);
      return infoOf(key, stats);
    },
    async dropAppend(key) {
      await removeBelow(partial, partialOf(key));
    },
    async *listAppends(prefix) {
      checkPrefix(prefix);
      for await (const key of walkFiles(partial, prefix)) {
        const stats = await statFile(join(partial, key));
        if (stats !== null) yield { key, modifiedAt: stats.mtime };
      }
    },
  };
}

/**
 * Opens the collected bytes, or creates the file at offset 0. @throws OffsetError when nothing has arrived and the
 * offset is not 0.
 */
async function openPartial(root: string, path: string, offset: number): Promise<FileHandle> {
  try {
    return await open(path, "r+");
  } catch (error) {
    if (!failedWith(error, "ENOENT", "ENOTDIR")) throw error;
    if (offset !== 0)
      throw new OffsetError(`nothing has arrived yet, so it cannot continue at byte ${offset}`, {
        cause: error,
      });
  }
  return placeBelow(root, path, () => open(path, "wx", 0o600));
}

async function statFile(path: string): Promise<import("node:fs").BigIntStats | null> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR")) return null;
    throw error;
  }
}
