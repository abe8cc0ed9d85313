import { randomUUID } from "node:crypto";
import { type BigIntStats, constants } from "node:fs";
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
  rm,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join, posix, sep } from "node:path";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import { userName } from "../../../platform/user-name.ts";
import {
  type FoundFile,
  isHidden,
  maxFolderFiles,
  maxNumber,
  numbered,
  outdated,
  tooManyFiles,
  WatchError,
  type WatchedFolder,
} from "./watched-folder.ts";

/** Bytes that are read at a time. */
const chunkBytes = 1 << 20;

/** Files whose properties are read at a time: a network mount takes milliseconds for each. */
const concurrency = 8;

/** A folder of this machine. Links are not followed: neither those in the folder nor one that appears meanwhile. */
export function openLocalFolder(location: string): WatchedFolder {
  const nameOf = (path: string): string => (path === "" ? location : join(location, path));
  /** The folder that had files in it, by volume and number: null before the first. */
  let mounted: string | null = null;

  /** The path of a file that is really below the folder. @throws WatchError */
  async function locate(path: string): Promise<string> {
    const root = await realpath(location).catch((error) => Promise.reject(describe(error, location)));
    const full = join(root, ...path.split("/"));
    const parent = await realpath(dirname(full)).catch((error) =>
      Promise.reject(describe(error, nameOf(path))),
    );
    if (parent !== dirname(full) || !(full.startsWith(`${root}${sep}`) || full === root))
      throw new WatchError(
        sentenceOf("watch_behind_link", { file: nameOf(path) }),
        sentences.watch_link_remedy,
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

  /** Uses an entry through its open folder: if that is replaced by a link meanwhile, the same folder is used. */
  async function inFolder<T>(path: string, use: (full: string) => Promise<T>): Promise<T> {
    const full = await locate(path);
    const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
    const handle = await open(dirname(full), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    try {
      const held = `/proc/self/fd/${handle.fd}`;
      const opened = await readlink(held).catch(() => null);
      if (opened !== null && opened !== dirname(full)) throw outdated(nameOf(path));
      return await use(join(opened === null ? dirname(full) : held, basename(full)));
    } finally {
      await handle.close();
    }
  }

  /** Finishes removals that a killed process had begun. Where the folder is read-only, there are none of this server. */
  async function finishRemovals(folder: string, names: readonly string[]): Promise<void> {
    for (const name of names) await inFolder(posix.join(folder, name), finishRemoval).catch(() => {});
  }

  return {
    nameOf,
    async list(folder) {
      const full =
        folder === ""
          ? await realpath(location).catch((e) => Promise.reject(describe(e, location)))
          : dirname(await locate(`${folder}/file`));
      const names: string[] = [];
      const folders: string[] = [];
      const removals: string[] = [];
      try {
        for await (const entry of await opendir(full)) {
          if (removals.length < maxRemovals && removalStamp(entry.name) !== null) removals.push(entry.name);
          if (isHidden(entry.name)) continue;
          if (entry.isDirectory()) folders.push(entry.name);
          else if (entry.isFile()) names.push(entry.name);
          if (names.length + folders.length > maxFolderFiles) throw tooManyFiles(nameOf(folder));
        }
      } catch (error) {
        throw describe(error, nameOf(folder));
      }
      await finishRemovals(folder, removals);
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
    async isCurrent(path, stamp) {
      const full = await locate(path).catch((error) => {
        if (error instanceof WatchError) return null;
        throw error;
      });
      return full !== null && (await hasStamp(full, stamp).catch(() => false));
    },
    async isMounted() {
      const info = await stat(location, { bigint: true }).catch(() => null);
      if (!info?.isDirectory()) return false;
      const identity = `${info.dev} ${info.ino}`;
      if (identity === mounted) return true;
      if (await isEmpty(location)) return false;
      mounted = identity;
      return true;
    },
    async readBytes(path, maxBytes) {
      const { handle } = await openHandle(path);
      try {
        const buffer = Buffer.alloc(Math.min(maxBytes, (await handle.stat()).size) + 1);
        let length = 0;
        // A network mount may return fewer bytes than were asked for.
        for (let read = 1; read > 0 && length < buffer.length; length += read)
          read = (await handle.read(buffer, length, buffer.length - length, length)).bytesRead;
        if (length > maxBytes) throw tooLong(nameOf(path), maxBytes);
        return buffer.subarray(0, length);
      } finally {
        await handle.close();
      }
    },
    async writeText(path, text) {
      // A new file replaces what is there: opening a pipe that a user created would never end.
      await inFolder(path, async (full) => {
        const draft = hiddenBeside(full);
        await writeFile(draft, text, { flag: "wx", mode: 0o644 });
        await rename(draft, full).catch((error) => unlink(draft).then(() => Promise.reject(error)));
      });
    },
    async move(from, to, stamp) {
      // Folder by folder, each of which must be no link.
      for (const folder of foldersOf(to))
        await inFolder(folder, (full) =>
          mkdir(full).catch((error: NodeJS.ErrnoException) => {
            if (error.code !== "EEXIST") throw error;
          }),
        );
      await inFolder(from, async (source) => {
        const isMoved = await inFolder(to, (target) => moveIfUnchanged(source, target, stamp));
        if (!isMoved) throw outdated(nameOf(from));
      });
    },
    async remove(path, stamp) {
      await inFolder(path, async (full) => {
        if (stamp === undefined) return unlink(full);
        if (!(await removeIfUnchanged(full, stamp))) throw outdated(nameOf(path));
      }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
      });
    },
    async check() {
      const info = await stat(location).catch((error) => Promise.reject(describe(error, location)));
      if (!info.isDirectory())
        throw new WatchError(
          sentenceOf("watch_no_folder", { folder: location }),
          sentences.watch_no_folder_remedy,
        );
      await access(location, constants.R_OK | constants.X_OK).catch((error) =>
        Promise.reject(describe(error, location)),
      );
    },
    close() {},
  };
}

async function isEmpty(folder: string): Promise<boolean> {
  for await (const _ of await opendir(folder)) return false;
  return true;
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
          stamp: stampOf(info),
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

function stampOf({ size, mtimeNs }: BigIntStats): string {
  return `${size} ${mtimeNs}`;
}

async function hasStamp(path: string, stamp: string): Promise<boolean> {
  const info = await lstat(path, { bigint: true });
  return info.isFile() && stampOf(info) === stamp;
}

/** A name of its own in the folder of a file, which no listing shows. */
function hiddenBeside(path: string): string {
  return join(dirname(path), `.parley-${randomUUID()}`);
}

/** Removals that one listing finishes. */
const maxRemovals = 100;

/** What a file is renamed to before it is removed. It states which file is meant, in case the process is killed. */
export function removalName(path: string, stamp: string): string {
  return join(dirname(path), `.parley-removed-${stamp.replace(" ", "-")}-${randomUUID()}`);
}

/** The stamp in such a name; null for another name. */
function removalStamp(name: string): string | null {
  const [, size, time] = /^\.parley-removed-(\d{1,20})-(\d{1,20})-[\da-f-]{36}$/.exec(name) ?? [];
  return size === undefined || time === undefined ? null : `${size} ${time}`;
}

/** Removes a file that was renamed for it, unless it is another one: that was not compared yet, and may be a user's only copy. */
async function finishRemoval(path: string): Promise<void> {
  const stamp = removalStamp(basename(path));
  if (stamp !== null && (await hasStamp(path, stamp))) await unlink(path);
}

/**
 * Removes a file, after it was renamed and compared: a file that replaces it meanwhile stays.
 * @returns false when it is another file, which has its name again.
 */
async function removeIfUnchanged(path: string, stamp: string): Promise<boolean> {
  if (!(await hasStamp(path, stamp))) return false;
  const hidden = removalName(path, stamp);
  await rename(path, hidden);
  // Another process that lists the folder at this moment may have removed it already.
  if (await hasStamp(hidden, stamp).catch(ifMissing)) {
    await rm(hidden, { force: true });
    return true;
  }
  for (let number = 1; number <= maxNumber; number += 1)
    if (await renameIfAbsent(hidden, numbered(path, number))) return false;
  return false;
}

/** @returns false when the file is another one now, which stays. */
async function moveIfUnchanged(from: string, to: string, stamp: string): Promise<boolean> {
  for (let number = 1; number <= maxNumber; number += 1) {
    const target = numbered(to, number);
    try {
      await link(from, target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") continue;
      // Network mounts often have no hard links.
      if (code === "ENOENT" || code === "EACCES" || code === "EROFS" || code === "EXDEV") throw error;
      if (!(await hasStamp(from, stamp))) return false;
      if (await renameIfAbsent(from, target)) return true;
      continue;
    }
    if (await hasStamp(target, stamp)) return removeIfUnchanged(from, stamp);
    await unlink(target);
    return false;
  }
  throw new Error(`${basename(to)} exists`);
}

/** @returns true when a file is missing. @throws any other error. */
function ifMissing(error: NodeJS.ErrnoException): boolean {
  if (error.code !== "ENOENT") throw error;
  return true;
}

/** @returns false when there is a file already. */
async function renameIfAbsent(from: string, to: string): Promise<boolean> {
  if ((await lstat(to).catch(() => null)) !== null) return false;
  await rename(from, to);
  return true;
}

function tooLong(name: string, maxBytes: number): WatchError {
  return new WatchError(
    sentenceOf("watch_long", { file: name, size: Math.floor(maxBytes / 1000) }),
    sentences.watch_long_remedy,
  );
}

/** An error of the system in words. */
function describe(error: unknown, name: string): unknown {
  if (error instanceof WatchError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR")
    return new WatchError(
      sentenceOf("watch_missing", { folder: name }),
      sentences.watch_missing_remedy,
      true,
    );
  if (code === "EACCES" || code === "EPERM")
    return new WatchError(
      sentenceOf("watch_permission", { user: userName(), folder: name }),
      sentenceOf("watch_permission_remedy", { user: userName() }),
    );
  if (code === "ELOOP")
    return new WatchError(
      sentenceOf("watch_link", { file: name }),
      sentences.watch_link_remedy,
      // It was no link when the folder was listed.
      true,
    );
  return error;
}
