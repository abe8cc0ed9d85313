import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** MiB of memory that a process holds; null when the system does not report it (not Linux, or the process is gone). */
export async function memoryOf(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => null);
  const kib = status?.match(/^VmRSS:\s+(\d+) kB$/m)?.[1];
  return kib === undefined ? null : Number(kib) / 1024;
}

/** Bytes of the files in a folder, not including subfolders. A file that vanishes meanwhile counts nothing. */
export async function bytesIn(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (info) => info.size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
