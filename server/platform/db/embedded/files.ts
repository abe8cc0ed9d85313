import { randomBytes } from "node:crypto";
import { chmod, lchown, lstat, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./errors.ts";
import type { SystemUser } from "./system-user.ts";

export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error) => {
      if (codeOf(error) === "ENOENT") return false;
      throw error;
    },
  );
}

/** The file's text, or undefined when there is no such file. */
export async function readIfExists(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
}

/** Makes a folder with exactly this mode, whatever the umask; leaves one that exists as it is. */
export async function makeFolder(path: string, mode: number, owner?: SystemUser): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return;
    throw error;
  }
  await chmod(path, mode);
  if (owner) await lchown(path, owner.uid, owner.gid);
}

/**
 * Writes a small file so that a crash leaves the old or the new one, never half of it, and never through a
 * symbolic link: as root we write into folders that belong to the database's user.
 */
export async function writeWhole(
  path: string,
  text: string,
  mode: number,
  owner?: SystemUser,
): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString("hex")}`;
  const file = await open(temporary, "wx", mode);
  try {
    await file.writeFile(text);
    if (owner) await file.chown(owner.uid, owner.gid);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(join(path, ".."));
}

/** Makes renames in this folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } catch {
    // Some file systems cannot sync a folder; then there is nothing we could do.
  } finally {
    await folder.close();
  }
}
