import { randomUUID } from "node:crypto";
import { close, constants, createReadStream, fstat, open as openCallback } from "node:fs";
import {
  chmod,
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { readBody, throwIfAborted } from "../body.ts";
import { checkKey, checkPrefix, cutRange, isKey } from "../key-rules.ts";
import { type ObjectInfo, ObjectMissingError, type ObjectStore, type PutOptions } from "../store.ts";
import { createWriteTraffic } from "../write-traffic.ts";
import { localAppends } from "./append.ts";
import { writeChunks } from "./file-writer.ts";
import { failedWith, linkIfAbsent, placeBelow, removeBelow, syncFolder, walkFiles } from "./folders.ts";
import { groupedPut, smallBytes } from "./groups.ts";
import { infoOf, type LocalFolders, syncFile } from "./object-folders.ts";

export type { ObjectStore } from "../store.ts";

/**
 * Bytes read at a time: measured for the download of 1 GiB through node:http, where 64 KiB (the usual) takes twice as
 * long and more gains nothing.
 */
const readBytes = 512 * 1024;
const [openFile, statOpen, closeFile] = [promisify(openCallback), promisify(fstat), promisify(close)];
const dayMs = 24 * 3600 * 1000;

export interface LocalStoreOptions {
  /** For a command that writes many small objects: they are written in groups, by calls that block the process. */
  readonly mayBlock?: boolean;
}

/**
 * Stores objects as files in a folder of the data folder, which several processes may share. A file is written in `.tmp`,
 * synced, and then linked or renamed to its key, so an object is complete or does not exist.
 */
export async function openLocalStore(
  dataDir: string,
  folder = "objects",
  { mayBlock = false }: LocalStoreOptions = {},
): Promise<ObjectStore> {
  const root = join(dataDir, folder);
  const folders: LocalFolders = { root, temporary: join(root, ".tmp"), partial: join(root, ".partial") };
  for (const folder of [folders.temporary, folders.partial])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  await syncFolder(dataDir);
  const traffic = createWriteTraffic();
  await sweepFiles(folders.temporary, new Date(Date.now() - dayMs));

  const pathOf = (key: string): string => {
    checkKey(key);
    return join(root, key);
  };
  const newTemporary = (): string => join(folders.temporary, randomUUID());

  /**
   * Moves a file to the key. Its first name may remain: after a link, and after a rename onto another name of the same
   * file. The caller removes it.
   */
  const publish = async (key: string, from: string, ifAbsent: boolean): Promise<ObjectInfo> => {
    const path = pathOf(key);
    const info = infoOf(key, await stat(from, { bigint: true }));
    await placeBelow(root, path, () => (ifAbsent ? linkIfAbsent(from, path, key) : rename(from, path)));
    return info;
  };

  /** Replaces the object at the key by a link to the file or, where that is impossible, a copy of it. */
  const takeFile = async (key: string, from: string): Promise<ObjectInfo> => {
    const temporary = newTemporary();
    try {
      await link(from, temporary);
      await chmod(temporary, 0o600);
    } catch (error) {
      await rm(temporary, { force: true });
      // Another file system, or a file whose owner or file system does not permit links.
      if (!failedWith(error, "EXDEV", "EPERM", "EACCES", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"))
        throw error;
      await copyOrNothing(from, temporary);
    }
    try {
      await syncFile(temporary);
      return await publish(key, temporary, false);
    } finally {
      await rm(temporary, { force: true });
    }
  };

  const putInGroup = mayBlock ? groupedPut(folders) : null;

  const head: ObjectStore["head"] = async (key) => {
    try {
      const stats = await stat(pathOf(key), { bigint: true });
      return stats.isFile() ? infoOf(key, stats) : null;
    } catch (error) {
      if (failedWith(error, "ENOENT", "ENOTDIR")) return null;
      throw error;
    }
  };

  return {
    kind: "local",
    async probe() {
      const path = newTemporary();
      try {
        const file = await open(path, "wx", 0o600);
        try {
          await file.writeFile("parley");
          await file.sync();
        } finally {
          await file.close();
        }
        const moved = `${path}.probe`;
        await rename(path, moved);
        const text = await readFile(moved, "utf8");
        await unlink(moved);
        if (text !== "parley") throw new Error("it returned other bytes");
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`the folder ${root} did not accept a test object: ${reason}`, { cause: error });
      } finally {
        await rm(path, { force: true });
        await rm(`${path}.probe`, { force: true });
      }
    },
    async check() {
      const path = newTemporary();
      try {
        await writeFile(path, "parley", { flag: "wx", mode: 0o600 });
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`files can't be written to the folder ${root}: ${reason}`, { cause: error });
      } finally {
        await rm(path, { force: true });
      }
    },
    async put(key, body, options = {}) {
      pathOf(key);
      if (putInGroup !== null && Buffer.isBuffer(body) && body.length <= smallBytes && isPlain(options))
        return putInGroup({ key, body });
      const temporary = newTemporary();
      try {
        const file = await open(temporary, "wx", 0o600);
        try {
          await writeChunks(file, 0, readBody(body, options), traffic);
          await file.sync();
        } finally {
          await file.close();
        }
        throwIfAborted(options.signal);
        return await publish(key, temporary, options.ifAbsent === true);
      } finally {
        await rm(temporary, { force: true });
      }
    },
    async putFile(key, path, options = {}) {
      pathOf(key);
      throwIfAborted(options.signal);
      return takeFile(key, await realpath(path));
    },
    async get(key, range, signal) {
      // A bare descriptor: a FileHandle whose stream is neither read to the end nor destroyed ends the whole process.
      const fd = await openFile(pathOf(key), "r").catch((error: unknown) => {
        throw failedWith(error, "ENOENT", "ENOTDIR") ? new ObjectMissingError(`nothing is at ${key}`) : error;
      });
      try {
        const stats = await statOpen(fd, { bigint: true });
        if (!stats.isFile()) throw new ObjectMissingError(`nothing is at ${key}`);
        const info = infoOf(key, stats);
        const cut = range === undefined ? {} : cutRange(range, info.size);
        // A read needs a buffer of this size; most files are small.
        const highWaterMark = Math.min(readBytes, info.size + 1);
        const options = { ...cut, fd, highWaterMark, ...(signal && { signal }) };
        return { info, body: createReadStream("", options) };
      } catch (error) {
        await closeFile(fd);
        throw error;
      }
    },
    head,
    async delete(key) {
      await removeBelow(root, pathOf(key));
    },
    async copy(from, to) {
      pathOf(to);
      try {
        return await takeFile(to, pathOf(from));
      } catch (error) {
        if (failedWith(error, "ENOENT", "ENOTDIR")) throw new ObjectMissingError(`nothing is at ${from}`);
        throw error;
      }
    },
    async *list(prefix) {
      checkPrefix(prefix);
      for await (const key of walkFiles(root, prefix)) {
        // Not a file of this store.
        if (!isKey(key)) continue;
        const info = await head(key);
        if (info !== null) yield info;
      }
    },
    localPath: pathOf,
    downloadLink: async () => null,
    uploadLink: async () => null,
    ...localAppends(folders, traffic, head),
    sweepLeftovers: (olderThan) => sweepFiles(folders.temporary, olderThan),
    ownKey: (name) => name,
    close: async () => {},
  };
}

/** Whether only the content type is given, which a local store does not keep. */
function isPlain({ contentType: _, ...others }: PutOptions): boolean {
  return Object.values(others).every((value) => value === undefined);
}

/** Removes files not written to since then; a living process writes to its own all the time. */
async function sweepFiles(folder: string, olderThan: Date): Promise<number> {
  let removed = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      if ((await stat(path)).mtime >= olderThan) continue;
      await unlink(path);
      removed++;
    } catch (error) {
      // Its process has just finished with it, or another process sweeps as well.
      if (!failedWith(error, "ENOENT")) throw error;
    }
  }
  return removed;
}

async function copyOrNothing(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}
