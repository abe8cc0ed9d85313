import { lstat, readFile, stat, symlink, unlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { codeOf } from "../errors.ts";

/**
 * npm packages cannot hold symbolic links, so this one makes its libraries' names in an install script, which
 * may not have run (`--ignore-scripts`). Makes the missing ones; false when that is impossible here.
 */
export async function hydrateSymlinks(native: string): Promise<boolean> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const link of links) {
    const source = join(native, link.source.replace(/^native\//, ""));
    const target = join(native, link.target.replace(/^native\//, ""));
    if (await stat(target).catch(() => undefined)) continue;
    try {
      if (await lstat(target).catch(() => undefined)) await unlink(target);
      await symlink(relative(dirname(target), source), target);
    } catch (error) {
      // EEXIST: another process starting right now made the same link.
      if (codeOf(error) !== "EEXIST") return false;
    }
  }
  return true;
}
