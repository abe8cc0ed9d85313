import type { FastifyBaseLogger } from "fastify";
import type pg from "pg";
import { version } from "../version.ts";

/** The database needs a newer program; using it could harm it. */
export class DatabaseTooNewError extends Error {}

/** How often a running process checks whether it is too old. */
export const versionCheckMs = 5000;

/** @returns the oldest version that may use the database; null: every version that reads this. */
export async function readOldestVersion(client: pg.ClientBase): Promise<string | null> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    "select to_regclass('installation') is not null as exists",
  );
  if (!tables[0]?.exists) return null;
  // Databases of version 1.0.0 have no such column.
  const { rows } = await client.query<{ oldest: string | null }>(
    "select to_jsonb(installation) ->> 'oldest_version' as oldest from installation",
  );
  return rows[0]?.oldest ?? null;
}

/** Compares versions such as 1.10.0 by their numbers; a prerelease such as 1.10.0-beta.2 is older than its release. */
export function isOlder(version: string, than: string): boolean {
  const split = (text: string) => /^([^-+]*)(?:-([^+]*))?/.exec(text) ?? [];
  const compare = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });
  const [, release = "", prerelease] = split(version);
  const [, thanRelease = "", thanPrerelease] = split(than);
  const order = compare(release, thanRelease);
  if (order !== 0 || prerelease === undefined) return order < 0;
  return thanPrerelease === undefined || compare(prerelease, thanPrerelease) < 0;
}

/** @throws DatabaseTooNewError when the program is older than the database allows. */
export function checkVersion(program: string, oldest: string | null): void {
  if (oldest !== null && isOlder(program, oldest))
    throw new DatabaseTooNewError(
      `the database needs Parley ${oldest} or newer, and this is ${program}; install the newer version, or restore an older backup`,
    );
}

/** @returns the newest of the versions that migrations need; null: none needs any. */
export function newestOf(needed: readonly (string | null)[]): string | null {
  let newest: string | null = null;
  for (const one of needed) if (one !== null && (newest === null || isOlder(newest, one))) newest = one;
  return newest;
}

/**
 * Refuses versions that are older than this one.
 * @returns whether they were allowed before.
 */
export async function raiseOldestVersion(client: pg.ClientBase, oldest: string): Promise<boolean> {
  const before = await readOldestVersion(client);
  if (before !== null && !isOlder(before, oldest)) return false;
  await client.query("update installation set oldest_version = $1", [oldest]);
  return true;
}

/** Whether this process may still use the database. */
export interface VersionWatch {
  /** The version that the database needs; null: this one will do. Stays set: a process that has stopped stays stopped. */
  readonly needed: string | null;
  stop(): void;
}

/**
 * Watches whether the database needs a newer program, because `parley migrate --finish` of one was run.
 * @param onTooOld called once.
 * @throws DatabaseTooNewError when it does already.
 */
export async function watchOldestVersion(
  pool: pg.Pool,
  log: Pick<FastifyBaseLogger, "error">,
  onTooOld: () => void,
): Promise<VersionWatch> {
  let needed: string | null = null;

  async function read(): Promise<string | null> {
    const { rows } = await pool.query<{ oldest: string | null }>({
      name: "oldest-version",
      text: "select oldest_version as oldest from installation",
    });
    return rows[0]?.oldest ?? null;
  }

  async function check(): Promise<void> {
    // While the database is away, nothing can be harmed.
    const oldest = await read().catch(() => null);
    if (oldest === null || !isOlder(version, oldest) || needed !== null) return;
    needed = oldest;
    clearInterval(timer);
    log.error(
      `this is Parley ${version}, and its database needs ${oldest} or newer; nothing is served any more`,
    );
    onTooOld();
  }

  checkVersion(version, await read());
  const timer = setInterval(() => void check(), versionCheckMs);
  return {
    get needed() {
      return needed;
    },
    stop: () => clearInterval(timer),
  };
}
