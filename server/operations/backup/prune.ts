import { forEachConcurrent } from "../../platform/concurrency.ts";
import type { KeepRule } from "../../platform/config/values.ts";
import { confirmDamage } from "./check.ts";
import { removeBackup } from "./create.ts";
import { BackupDamagedError } from "./errors.ts";
import type { BackupFolder } from "./folder.ts";
import {
  type BackupName,
  listBackups,
  type Manifest,
  objectsPrefix,
  readManifest,
  readObjects,
} from "./manifest.ts";

interface PruneOptions {
  readonly keep: KeepRule;
  /** Also remove backups whose manifest or list of files is damaged: they can't be restored. */
  readonly removesDamaged?: boolean;
}

/** What was removed. */
export interface PruneResult {
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  /** Files that no backup needs any more. */
  readonly objects: number;
}

/** Names compared at a time, so that memory does not grow with the number of files. */
const namesAtOnce = 200_000;

/** Files removed at a time. */
export const removalsAtOnce = 6;

/**
 * Removes backups that the rule does not keep, and then the files that no backup needs any more. The newest intact backup
 * always stays. Damaged backups count for nothing in the rule, so that an intact one is kept for their day, week or month.
 * The caller holds the lock of backups.
 * @throws BackupDamagedError if it is unknown which files a backup needs. The backup and all files stay.
 */
export async function pruneBackups(
  folder: BackupFolder,
  { keep, removesDamaged = false }: PruneOptions,
): Promise<PruneResult> {
  const { complete, interrupted } = await listBackups(folder);
  // Read before anything is removed: a damaged list must not make files look unneeded.
  const { kept, damaged } = await chooseIntact(folder, complete, keep);
  if (damaged.size > 0 && kept.size === 0) throw new BackupDamagedError(describeAllDamaged(damaged));
  const removed = complete
    .map(({ id }) => id)
    .filter((id) => !kept.has(id) && (removesDamaged || !damaged.has(id)));
  for (const id of [...removed, ...interrupted]) await removeBackup(folder, id);
  if (damaged.size > 0 && !removesDamaged)
    throw new BackupDamagedError(describeUnprunable(folder, damaged, removed.length));

  let objects = 0;
  for await (const names of batchesOf(folder.store.list(objectsPrefix), namesAtOnce)) {
    const unneeded = new Set(names);
    for (const manifest of kept.values())
      for await (const { name } of readObjects(folder, manifest)) unneeded.delete(name);
    await forEachConcurrent([...unneeded], removalsAtOnce, (name) => folder.store.delete(name));
    objects += unneeded.size;
  }
  return { kept: [...kept.keys()], removed, objects };
}

/** Damaged backups by id, with what is wrong. */
type Damaged = ReadonlyMap<string, string>;

/** Applies the rule to the backups that say which files they need. Reads only those that it may keep. */
async function chooseIntact(
  folder: BackupFolder,
  complete: readonly BackupName[],
  keep: KeepRule,
): Promise<{ kept: ReadonlyMap<string, Manifest>; damaged: Damaged }> {
  const [kept, damaged] = [new Map<string, Manifest>(), new Map<string, string>()];
  for (;;) {
    const candidates = complete.map(({ id }) => id).filter((id) => !damaged.has(id));
    const chosen = chooseBackups(candidates, keep);
    const unread = complete.filter(({ id }) => chosen.has(id) && !kept.has(id));
    if (unread.length === 0) return { kept, damaged };
    for (const backup of unread) {
      const found = await readIntact(folder, backup);
      if (typeof found === "string") damaged.set(backup.id, found);
      else kept.set(backup.id, found);
    }
  }
}

/** @returns what is wrong if the manifest or the list of files is damaged. */
async function readIntact(folder: BackupFolder, backup: BackupName): Promise<Manifest | string> {
  try {
    const manifest = await confirmDamage(folder, backup.manifest, () => readManifest(folder, backup));
    const { part } = manifest.objects;
    await confirmDamage(folder, part.name, () => folder.check(part));
    return manifest;
  } catch (error) {
    if (error instanceof BackupDamagedError) return error.message;
    throw error;
  }
}

function describeAllDamaged(damaged: Damaged): string {
  return `no backup is intact: ${[...damaged.values()].join("; ")}. Nothing was removed. Run \`parley backup\` first`;
}

function describeUnprunable({ destination }: BackupFolder, damaged: Damaged, removed: number): string {
  return `${[...damaged.values()].join("; ")}. Without it, nobody knows which files the backup ${[...damaged.keys()].join(", ")} needs. It was kept, and so were all files; ${removed} old backups were removed. Restore the damaged file from a copy of ${destination}; without a copy, remove this backup, which can't be restored: run \`parley backup prune\` again with \`--remove-damaged\``;
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
