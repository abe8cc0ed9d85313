import { constants } from "node:fs";
import { access, open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, EmbeddedDatabaseError, messageOf } from "../errors.ts";
import { privateFolder } from "../private-folder.ts";
import type { Context } from "../types.ts";

const POLL_MS = 20;
const TELL_AFTER_MS = 1000;
/** Longer than any start may take, recovery included. */
const GIVE_UP_AFTER_MS = 15 * 60_000;
/** SQLite's own limit for a path is 512 bytes, with "-journal" appended. */
const MAX_LOCK_PATH_BYTES = 480;
const SQLITE_BUSY = 5;

/**
 * Runs `action` while no other process starts or stops the PostgreSQL of this data folder. The lock is
 * SQLite's lock on an empty file, because Node has no flock: the kernel releases it when its holder dies, so
 * there are no stale locks to handle. Where the file system knows no locks, PostgreSQL's own interlocks and the
 * advisory locks still hold.
 */
export async function withStartLock<T>(
  context: Context,
  dataDir: string,
  action: () => Promise<T>,
): Promise<T> {
  const unlock = await lock(context, dataDir);
  try {
    return await action();
  } finally {
    unlock();
  }
}

async function lock(context: Context, dataDir: string): Promise<() => void> {
  const database = await openLockFile(dataDir);
  const started = Date.now();
  let told = false;
  for (;;) {
    try {
      database.exec("begin exclusive");
      return () => database.close();
    } catch (error) {
      if (!isBusy(error)) {
        context.log("warn", "the data folder's file system has no locks", { error: messageOf(error) });
        return () => database.close();
      }
    }
    const waited = Date.now() - started;
    if (!told && waited > TELL_AFTER_MS) {
      told = true;
      context.log("info", "waiting for another Parley process that is starting or stopping PostgreSQL");
    }
    try {
      if (waited > GIVE_UP_AFTER_MS)
        throw new EmbeddedDatabaseError(`another process has locked ${dataDir}; stop it first`);
      await sleep(POLL_MS, undefined, { signal: context.signal });
    } catch (error) {
      database.close();
      throw error;
    }
  }
}

async function openLockFile(dataDir: string): Promise<DatabaseSync> {
  const usual = join(dataDir, "postgres.lock");
  const short = Buffer.byteLength(usual) <= MAX_LOCK_PATH_BYTES;
  const path = short ? usual : join(await privateFolder("lock", dataDir, undefined), "lock");
  // Made by us, as SQLite would make it readable for all, and any user who can read it can hold it. Never opened when
  // it exists: closing it would drop a lock that this same process holds on it (POSIX).
  await open(path, "wx", 0o600)
    .then((file) => file.close())
    .catch((error) => {
      if (codeOf(error) !== "EEXIST") throw error;
    });
  await access(path, constants.R_OK | constants.W_OK).catch(() => {
    throw new EmbeddedDatabaseError(
      `${path} cannot be written by this user: run Parley as the user who created it`,
    );
  });
  return new DatabaseSync(path, { timeout: 0 });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
