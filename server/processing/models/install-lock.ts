import { randomUUID } from "node:crypto";
import { link, open, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { ModelError } from "./store.ts";

/** How often the lock is marked as in use, and after which silence its process is taken for dead. */
const beatMs = 5_000;
const silentMs = 60_000;

/** Another process is installing the model; it may succeed, or leave the rest to us. */
export class LockedError extends ModelError {}

/**
 * Takes the lock of a model's installation, a file that names its process. A dead process's lock is taken over.
 * @returns a function that releases it.
 * @throws LockedError when another process is installing the model.
 */
export async function takeInstallLock(path: string, name: string): Promise<() => Promise<void>> {
  const locked = (): Error =>
    new LockedError(`another process is installing ${name}; wait until it has finished`);
  // Before the first wait: of several calls in this process, one alone looks at the file.
  if (held.has(path)) throw locked();
  held.add(path);
  try {
    if (!(await createLock(path)) && !((await removeStale(path)) && (await createLock(path)))) throw locked();
  } catch (error) {
    held.delete(path);
    throw error;
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => {});
  }, beatMs).unref();
  return async () => {
    clearInterval(beat);
    try {
      await rm(path, { force: true });
    } finally {
      held.delete(path);
    }
  };
}

/** The locks that this process has or is about to take. */
const held = new Set<string>();

async function createLock(path: string): Promise<boolean> {
  try {
    const handle = await open(path, "wx", 0o600);
    await handle.writeFile(`${hostname()} ${process.pid}`);
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes a dead process's lock. Of several processes that find it, one moves it away; a lock that was created meanwhile is
 * moved back.
 * @returns whether there is none any more.
 */
async function removeStale(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (await isInUse(path)) return false;
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
    throw error;
  }
  const isStale = (await stat(aside)).ino === found?.ino;
  if (!isStale) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return isStale;
}

async function isInUse(path: string): Promise<boolean> {
  const info = await stat(path).catch(() => null);
  if (info === null || Date.now() - info.mtimeMs > silentMs) return false;
  const [host, pid] = (await readFile(path, "utf8").catch(() => "")).split(" ");
  if (host !== hostname()) return true;
  // It is about to be taken, so a file with our number is that of a dead process.
  if (Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
