import { readdir, readFile, readlink, realpath } from "node:fs/promises";

/**
 * Ends what a killed postmaster left behind, and returns the numbers. Its processes go by themselves as soon as
 * they wait for something, but one in the middle of a long computation notices nothing, and as long as it has the
 * shared memory no new postmaster may start. Only where there is a /proc; elsewhere they are waited for.
 */
export async function endOrphans(clusterDir: string): Promise<number[]> {
  const folder = await realpath(clusterDir);
  const ended: number[] = [];
  for (const name of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(name)) continue;
    // Not our business, or gone meanwhile: both look like this.
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    if (!command.startsWith("postgres: ")) continue;
    if ((await readlink(`/proc/${name}/cwd`).catch(() => undefined)) !== folder) continue;
    try {
      process.kill(Number(name), "SIGQUIT");
      ended.push(Number(name));
    } catch {
      // It ended by itself.
    }
  }
  return ended;
}
