import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, chown, copyFile, lchown, link, lstat, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { blockedFolders, type SystemUser } from "../db/embedded/system-user.ts";
import type { Confinement } from "./detect.ts";

/**
 * Gives the work folder with its files to the confined program's user and lets that user read the input.
 * @param inputPath absolute path; outside the folder it is linked into it unless the user can read it anyway.
 * @returns the path to hand to the program, whose working folder is `folder`: the folders above may be closed to it.
 */
export async function openFolder(
  confinement: Confinement,
  folder: string,
  inputPath: string,
): Promise<string> {
  const { user } = confinement.method;
  if (user === null) return inputPath;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const entry = await lstat(path);
    if (entry.isFile() && entry.nlink === 1) await lchown(path, user.uid, user.gid);
  }
  await chown(folder, user.uid, user.gid);
  return dirname(inputPath) === folder ? basename(inputPath) : shareFile(confinement, folder, inputPath);
}

/**
 * Lets the confined program's user read a file outside the program's folder, by a link in that folder if needed.
 * @returns the path to hand to the program.
 */
export async function shareFile(
  { method: { user } }: Confinement,
  folder: string,
  inputPath: string,
): Promise<string> {
  if (user === null) return inputPath;
  if (await isReadable(inputPath, user)) return inputPath;
  const name = `input-${randomUUID()}${extname(inputPath)}`;
  const path = join(folder, name);
  // Some file systems have no links.
  await link(inputPath, path).catch(() => copyFile(inputPath, path, constants.COPYFILE_FICLONE));
  // Through the group, so that the file stays its owner's: in a local store it is the object itself.
  const { uid, mode } = await stat(path);
  await chown(path, uid, user.gid);
  await chmod(path, (mode & 0o7777) | 0o040);
  return name;
}

/**
 * Takes the folder back when the program has ended. What it left behind becomes the server's; anything but a regular
 * file with one name is removed, because a link could lead to a file of the server.
 */
export async function closeFolder({ method: { user } }: Confinement, folder: string): Promise<void> {
  if (user === null) return;
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  // First the folder: from here on no other user can change its content.
  await chown(folder, uid, gid);
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const entry = await lstat(path);
    if (entry.uid !== user.uid) continue;
    if (entry.isFile() && entry.nlink === 1) await lchown(path, uid, gid);
    else await rm(path, { recursive: true, force: true });
  }
}

/**
 * The absolute path of a file that a confined program says it has written.
 * @throws Error when it is no regular file directly in the folder.
 */
export async function outputPath(folder: string, said: string): Promise<string> {
  const path = resolve(folder, said);
  const entry = dirname(path) === folder ? await lstat(path).catch(() => null) : null;
  if (!entry?.isFile() || entry.nlink !== 1)
    throw new Error(`the confined program named an output that is no file of its folder: ${said}`);
  return path;
}

async function isReadable(path: string, user: SystemUser): Promise<boolean> {
  const { mode } = await stat(path);
  return (mode & 0o004) !== 0 && blockedFolders(dirname(path), user).length === 0;
}
