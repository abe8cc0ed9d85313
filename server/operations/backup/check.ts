import { forEachStreamed } from "../../platform/concurrency.ts";
import { ObjectMissingError } from "../../platform/storage/store.ts";
import type { BackupProgress } from "./create.ts";
import { BackupDamagedError } from "./errors.ts";
import type { BackupFolder } from "./folder.ts";
import { checkOwner, type Manifest, readObjects } from "./manifest.ts";

/** Files read at a time. */
const readsAtOnce = 4;

/** What reading every file of a backup found. */
export interface DamageFound {
  /** One line for each problem, with the name of the file. */
  readonly problems: readonly string[];
  /** Damaged and missing files of the object store, which are among the problems. */
  readonly objects: readonly DamagedObject[];
}

/** A file of the object store that a backup can't restore. */
interface DamagedObject {
  readonly key: string;
  /** The name of its file in the backup. */
  readonly name: string;
  readonly problem: string;
}

/**
 * Reads every file of a backup and compares it with what was written. If the database or the list of files is damaged, the
 * files are not read.
 */
export async function checkFiles(
  folder: BackupFolder,
  manifest: Manifest,
  onProgress: (progress: BackupProgress) => void,
): Promise<DamageFound> {
  const problems: string[] = [];
  const damaged: DamagedObject[] = [];
  /** @returns the problem, or null. */
  const check = async (work: () => Promise<void>): Promise<string | null> => {
    try {
      await work();
      return null;
    } catch (error) {
      if (!(error instanceof BackupDamagedError)) throw error;
      problems.push(error.message);
      return error.message;
    }
  };
  await check(() => checkOwner(folder, manifest));
  for (const part of partsOf(manifest))
    await check(() => confirmDamage(folder, part.name, () => folder.check(part)));
  if (problems.length > 0) return { problems, objects: [] };
  let [done, bytes] = [0, 0];
  const reading = forEachStreamed(readObjects(folder, manifest), readsAtOnce, async (object) => {
    const problem = await check(() => confirmDamage(folder, object.name, () => folder.check(object)));
    if (problem !== null) damaged.push({ key: object.key, name: object.name, problem });
    done += 1;
    bytes += object.bytes;
    onProgress({ phase: "files", total: manifest.objects.count, done, bytes });
  });
  for await (const _ of reading);
  return { problems, objects: damaged };
}

/**
 * Runs what reads a file of a backup. A connection that broke looks like damage, so only what the store returns in full, and
 * is refused twice, counts as damaged.
 * @throws BackupDamagedError, or the store's error if it can't return the file now.
 */
export async function confirmDamage<T>(
  folder: BackupFolder,
  name: string,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BackupDamagedError)) throw error;
  }
  try {
    for await (const _ of (await folder.store.get(name)).body);
  } catch (error) {
    // A bad sector is damage, too.
    if (!(error instanceof ObjectMissingError || (error as { code?: unknown }).code === "EIO")) throw error;
  }
  return read();
}

/** The files of one backup that are not files of the object store. */
export function partsOf({ secret, objects, tables }: Manifest): Manifest["secret"][] {
  return [secret, objects.part, ...tables.map(({ part }) => part)];
}

/** A damaged backup, with a line for each problem. */
interface Damage {
  readonly manifest: Manifest;
  readonly problems: readonly string[];
}

/** One line that names every problem. */
export function nameDamage({ manifest, problems }: Damage): string {
  return `the backup ${manifest.id} is damaged: ${problems.join("; ")}`;
}

/** The same with the remedy after a verification, which notes the damaged files for the next backup. */
export function describeDamage(damage: Damage): string {
  return `${nameDamage(damage)}. Run \`parley backup\`: the new backup copies the database and these files again`;
}
