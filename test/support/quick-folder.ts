import { mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableMemory } from "node:process";

/** Many times what the databases of a whole run ever hold at once. */
const plenty = 6 * 1024 ** 3;

/**
 * Makes a folder for the files of a PostgreSQL: in memory where there is plenty of it. Each database is a thousand files,
 * and ext4 takes ten times as long to make them where many were just deleted.
 */
export function makeQuickFolder(prefix: string): string {
  return mkdtempSync(join(memoryFolder() ?? tmpdir(), prefix));
}

function memoryFolder(): string | null {
  const folder = "/dev/shm";
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === folder);
    // PostgreSQL's programs may have to be run from there.
    if (mount === undefined || /\bnoexec\b/.test(mount)) return null;
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, availableMemory()) > plenty ? folder : null;
  } catch {
    // Other systems have none of this.
    return null;
  }
}
