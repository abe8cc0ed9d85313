import { existsSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import { DataFolderInUseError, startEmbeddedPostgres } from "../../platform/db/embedded/index.ts";

const [rootName, folderPrefix] = ["verify", "verify-"];
const pollMs = 1000;
const sqliteBusy = 5;

/**
 * Runs work in a folder for a temporary database, which is removed afterwards. One verification at a time has such a folder,
 * so that those of others are known to be left behind.
 */
export async function withVerifyFolder<T>(
  dataDir: string,
  log: FastifyBaseLogger,
  work: (folder: string, remove: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const root = join(dataDir, rootName);
  await mkdir(root, { recursive: true, mode: 0o711 });
  let unlock = await tryLock(root);
  if (unlock === null) log.warn("waiting for another verification of a backup in this data folder to end");
  for (; unlock === null; unlock = await tryLock(root)) await sleep(pollMs);
  try {
    const folder = await mkdtemp(join(root, folderPrefix));
    const remove = (): Promise<void> => removeFolder(folder);
    try {
      return await work(folder, remove);
    } finally {
      await remove();
    }
  } finally {
    unlock();
  }
}

/** Ends and removes the databases of killed verifications. Does nothing while one runs. */
export async function sweepVerifyFolders(dataDir: string, log: FastifyBaseLogger): Promise<void> {
  const root = join(dataDir, rootName);
  const list = async (): Promise<string[]> =>
    (await readdir(root).catch(() => [])).filter((name) => name.startsWith(folderPrefix));
  if ((await list()).length === 0) return;
  const unlock = await tryLock(root);
  if (unlock === null) return;
  try {
    for (const name of await list()) {
      const folder = join(root, name);
      if (!(await endPostgres(folder, log))) continue;
      await removeFolder(folder);
      log.warn({ folder }, "removed the temporary database of a verification that was killed");
    }
  } finally {
    unlock();
  }
}

/** The system releases the lock when its holder dies. @returns null while another holds it. */
async function tryLock(root: string): Promise<(() => void) | null> {
  const path = join(root, "lock");
  // Only for this user: any user who can read it can hold it. Never opened when it exists: closing it would drop the lock.
  await open(path, "wx", 0o600).then(
    (file) => file.close(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    },
  );
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("begin exclusive");
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode === sqliteBusy) {
      database.close();
      return null;
    }
    // A file system without locks: a PostgreSQL in use is found by its own.
  }
  return () => database.close();
}

/** Stops the PostgreSQL that outlived its verification. @returns false if it is in use after all. */
async function endPostgres(folder: string, log: FastifyBaseLogger): Promise<boolean> {
  const isRunning = ["postgres/postmaster.pid", "postgres.location"].some((name) =>
    existsSync(join(folder, name)),
  );
  if (!isRunning) return true;
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: folder, purpose: "server", log: () => {} });
    await postgres.stop();
  } catch (error) {
    if (error instanceof DataFolderInUseError) return false;
    log.warn({ err: error, folder }, "could not stop the database of a verification that was killed");
  }
  return true;
}

async function removeFolder(folder: string): Promise<void> {
  // Where the database's system user can't reach the folder, the database is elsewhere (embedded/location.ts).
  const elsewhere = (await readFile(join(folder, "postgres.location"), "utf8").catch(() => "")).trim();
  if (elsewhere.includes("/clusters/"))
    for (const path of [elsewhere, `${elsewhere}.data-folder`])
      await rm(path, { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
}
