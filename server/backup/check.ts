import { forEachStreamed } from "../platform/concurrency.ts";
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
  /** Names of damaged and missing files of the object store. */
  readonly objects: readonly string[];
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
  const damaged: string[] = [];
  const check = async (work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof BackupDamagedError)) throw error;
      problems.push(error.message);
      return false;
    }
  };
  await check(() => checkOwner(folder, manifest));
  for (const part of partsOf(manifest)) await check(() => folder.check(part));
  if (problems.length > 0) return { problems, objects: [] };
  let [done, bytes] = [0, 0];
  const reading = forEachStreamed(readObjects(folder, manifest), readsAtOnce, async (object) => {
    if (!(await check(() => folder.check(object)))) damaged.push(object.name);
    done += 1;
    bytes += object.bytes;
    onProgress({ phase: "files", total: manifest.objects.count, done, bytes });
  });
  for await (const _ of reading);
  return { problems, objects: damaged };
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
