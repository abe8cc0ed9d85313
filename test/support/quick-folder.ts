import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableMemory } from "node:process";
import { processExists } from "../../server/platform/db/embedded/process/process-facts.ts";

/** Many times the space that a run's databases need. */
const plenty = 6 * 1024 ** 3;

/**
 * Creates a folder for temporary files, in memory if there is plenty. Each database has a thousand files, and creating
 * them on ext4 without a journal takes ten times as long after many deletions.
 * Removes those of the same name that killed processes have left.
 */
export function makeQuickFolder(name: string): string {
  const parent = memoryFolder() ?? tmpdir();
  for (const entry of readdirSync(parent)) {
    const pid = entry.startsWith(`${name}-`) ? Number(entry.slice(name.length + 1).split("-")[0]) : 0;
    if (pid > 0 && !processExists(pid)) removeIfOurs(join(parent, entry));
  }
  return mkdtempSync(join(parent, `${name}-${process.pid}-`));
}

function removeIfOurs(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    // Another user's, or with files of other users in it.
    if (!["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

/** The folder of shared memory, if it has plenty of space: in containers it often has 64 MB. */
export function memoryFolder(): string | null {
  const folder = "/dev/shm";
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === folder);
    // PostgreSQL's programs may be executed from there.
    if (mount === undefined || /\bnoexec\b/.test(mount)) return null;
    const { bavail, bsize } = statfsSync(folder);
    return Math.min(bavail * bsize, availableMemory()) > plenty ? folder : null;
  } catch {
    // Not available on this system.
    return null;
  }
}
