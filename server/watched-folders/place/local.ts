import { constants } from "node:fs";
import {
  access,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  realpath,
  rename,
  stat,
  unlink,
} from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join, posix, sep } from "node:path";
import type { FoundFile } from "../group-files.ts";
import {
  isHidden,
  maxFolderFiles,
  maxNumber,
  numbered,
  outdated,
  type Place,
  tooManyFiles,
  WatchError,
} from "./place.ts";

/** Bytes that are read at a time. */
const chunkBytes = 1 << 20;

/** Files whose properties are read at a time: a network mount takes milliseconds for each. */
const concurrency = 8;

/** A folder of this machine. Links are not followed: neither those in the folder nor one that appears meanwhile. */
export function openLocalPlace(location: string): Place {
  const nameOf = (path: string): string => (path === "" ? location : join(location, path));

  /** The path of a file that is really below the folder. @throws WatchError */
  async function locate(path: string): Promise<string> {
    const root = await realpath(location).catch((error) => Promise.reject(describe(error, location)));
    const full = join(root, ...path.split("/"));
    const parent = await realpath(dirname(full)).catch((error) =>
      Promise.reject(describe(error, nameOf(path))),
    );
    if (parent !== dirname(full) || !(full.startsWith(`${root}${sep}`) || full === root))
      throw new WatchError(
        `${nameOf(path)} is behind a symbolic link, which is not followed.`,
        "Put the file itself into the folder.",
      );
    return full;
  }

  async function openHandle(path: string): Promise<{ handle: FileHandle; full: string }> {
    const full = await locate(path);
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(full, flags).catch((error) => Promise.reject(describe(error, nameOf(path))));
    try {
      // A folder on the way may have been replaced by a link since: Linux knows what was opened.
      const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => full);
      const info = await handle.stat();
      if (opened !== full || !info.isFile()) throw outdated(nameOf(path));
      return { handle, full };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  return {
    nameOf,
    async list(folder) {
      const full =
        folder === ""
          ? await realpath(location).catch((e) => Promise.reject(describe(e, location)))
          : await locate(folder);
      const names: string[] = [];
      const folders: string[] = [];
      try {
        for await (const entry of await opendir(full)) {
          if (isHidden(entry.name)) continue;
          if (entry.isDirectory()) folders.push(entry.name);
          else if (entry.isFile()) names.push(entry.name);
          if (names.length + folders.length > maxFolderFiles) throw tooManyFiles(nameOf(folder));
        }
      } catch (error) {
        throw describe(error, nameOf(folder));
      }
      return { files: await statAll(full, names), folders };
    },
    async open(path) {
      const { handle, full } = await openHandle(path);
      const { size, mtimeNs, ino } = await handle.stat({ bigint: true });
      return {
        size: Number(size),
        read: () =>
          handle.createReadStream({
            start: 0,
            end: Number(size) - 1,
            autoClose: false,
            highWaterMark: chunkBytes,
          }),
        async isUnchanged() {
          const now = await lstat(full, { bigint: true }).catch(() => null);
          return now !== null && now.ino === ino && now.size === size && now.mtimeNs === mtimeNs;
        },
        close: () => handle.close(),
      };
    },
    async readText(path, maxBytes) {
      const { handle } = await openHandle(path);
      try {
        const { buffer, bytesRead } = await handle.read({
          buffer: Buffer.alloc(Math.min(maxBytes, (await handle.stat()).size) + 1),
        });
        if (bytesRead > maxBytes) throw tooLong(nameOf(path), maxBytes);
        return buffer.toString("utf8", 0, bytesRead);
      } finally {
        await handle.close();
      }
    },
    async writeText(path, text) {
      const full = await locate(path);
      const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
      const handle = await open(full, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644);
      try {
        await handle.writeFile(text);
      } finally {
        await handle.close();
      }
    },
    async move(from, to) {
      const source = await locate(from);
      // Folder by folder, each of which must be no link.
      for (const folder of foldersOf(to)) {
        const full = await locate(folder);
        await mkdir(full).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error;
        });
      }
      for (let number = 1; number <= maxNumber; number += 1)
        if (await moveIfAbsent(source, await locate(numbered(to, number)))) return;
      throw new Error(`${nameOf(to)} exists`);
    },
    async remove(path) {
      await unlink(await locate(path)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      });
    },
    async check() {
      const info = await stat(location).catch((error) => Promise.reject(describe(error, location)));
      if (!info.isDirectory())
        throw new WatchError(`${location} is not a folder.`, "Name a folder in PARLEY_WATCH_DIRS.");
      await access(location, constants.R_OK | constants.X_OK).catch((error) =>
        Promise.reject(describe(error, location)),
      );
    },
    close() {},
  };
}

async function statAll(folder: string, names: readonly string[]): Promise<FoundFile[]> {
  const files: FoundFile[] = [];
  const waiting = names[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const name of waiting) {
      const info = await lstat(join(folder, name), { bigint: true }).catch(() => null);
      if (info?.isFile())
        files.push({
          name,
          size: Number(info.size),
          stamp: `${info.size} ${info.mtimeNs}`,
          modifiedAt: info.mtime,
        });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return files;
}

/** The folders of a path, the outermost first. */
function foldersOf(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === "." ? [] : [...foldersOf(folder), folder];
}

/** @returns false when there is a file already. */
async function moveIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    await unlink(from);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Network mounts often have no hard links.
    if (code === "ENOENT" || code === "EACCES" || code === "EROFS" || code === "EXDEV") throw error;
    if ((await lstat(to).catch(() => null)) !== null) return false;
    await rename(from, to);
    return true;
  }
}

function tooLong(name: string, maxBytes: number): WatchError {
  return new WatchError(`${name} is longer than ${Math.floor(maxBytes / 1e6)} MB.`, "Shorten or remove it.");
}

/** An error of the system in words. */
function describe(error: unknown, name: string): unknown {
  if (error instanceof WatchError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR")
    return new WatchError(
      `${name} does not exist.`,
      "Create it, mount its volume, or correct PARLEY_WATCH_DIRS.",
      true,
    );
  if (code === "EACCES" || code === "EPERM")
    return new WatchError(
      `The user ${userInfo().username} may not read ${name}.`,
      `Give that user read access to the folder and its files (chmod, or chown ${userInfo().username}).`,
    );
  if (code === "ELOOP")
    return new WatchError(
      `${name} is a symbolic link, which is not followed.`,
      "Put the file itself into the folder.",
    );
  return error;
}
