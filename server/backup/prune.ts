import type { KeepRule } from "../platform/config/values.ts";
import { removeBackup } from "./create.ts";
import type { BackupFolder } from "./folder.ts";
import { listBackups, objectsPrefix, readManifest, readObjects } from "./manifest.ts";

/** What was removed. */
export interface PruneResult {
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  /** Files that no backup needs any more. */
  readonly objects: number;
}

/** Names compared at a time, so that memory does not grow with the number of files. */
const namesAtOnce = 200_000;

/**
 * Removes backups that the rule does not keep, and then the files that no backup needs any more. The newest backup always
 * stays. The caller holds the lock of backups.
 */
export async function pruneBackups(folder: BackupFolder, keep: KeepRule): Promise<PruneResult> {
  const { complete, interrupted } = await listBackups(folder);
  const ids = complete.map(({ id }) => id);
  const kept = chooseBackups(ids, keep);
  const removed = ids.filter((id) => !kept.has(id));
  // Read before anything is removed: a damaged list must not make files look unneeded.
  const manifests = [];
  for (const backup of complete) if (kept.has(backup.id)) manifests.push(await readManifest(folder, backup));
  for (const id of [...removed, ...interrupted]) await removeBackup(folder, id);

  let objects = 0;
  for await (const names of batchesOf(folder.store.list(objectsPrefix), namesAtOnce)) {
    const unneeded = new Set(names);
    for (const manifest of manifests)
      for await (const { name } of readObjects(folder, manifest)) unneeded.delete(name);
    for (const name of unneeded) await folder.store.delete(name);
    objects += unneeded.size;
  }
  return { kept: ids.filter((id) => kept.has(id)), removed, objects };
}

/**
 * The backups to keep: the newest of each of the last days, weeks and months that have one.
 * @param ids times such as 2026-11-22T030000Z, in any order.
 */
export function chooseBackups(ids: readonly string[], { days, weeks, months }: KeepRule): Set<string> {
  const newestFirst = [...ids].sort().reverse();
  const kept = new Set(newestFirst.slice(0, 1));
  for (const [count, periodOf] of [
    [days, (id: string) => id.slice(0, 10)],
    [weeks, weekOf],
    [months, (id: string) => id.slice(0, 7)],
  ] as const) {
    const periods = new Set<string>();
    for (const id of newestFirst) {
      const period = periodOf(id);
      if (periods.has(period)) continue;
      if (periods.size === count) break;
      periods.add(period);
      kept.add(id);
    }
  }
  return kept;
}

/** The Monday of the week, as a date. */
function weekOf(id: string): string {
  const day = new Date(`${id.slice(0, 10)}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7));
  return day.toISOString().slice(0, 10);
}

/** Keys of objects, so many at a time. */
export async function* batchesOf(
  objects: AsyncIterable<{ readonly key: string }>,
  size: number,
): AsyncGenerator<string[]> {
  let names: string[] = [];
  for await (const { key } of objects) {
    names.push(key);
    if (names.length < size) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}
