import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** An unprivileged account to run PostgreSQL as. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** The two numbers on nearly every Unix, for the rare one whose /etc/passwd names neither account. */
const NOBODY: SystemUser = { uid: 65534, gid: 65534 };

/**
 * The user PostgreSQL has to run as, or undefined for "as ourselves". Only root needs another one, because
 * PostgreSQL refuses root. A cluster that exists is run by its owner: PostgreSQL demands that, and a
 * `postgres` account that a package created later must not lock us out of a cluster made as `nobody`.
 */
export function databaseUser(clusterDir: string | undefined): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = clusterDir && lstatSync(clusterDir, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return unprivilegedUser();
}

function unprivilegedUser(): SystemUser {
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of ["postgres", "nobody"]) {
    const account = accounts.find((fields) => fields[0] === name);
    const uid = Number(account?.[2]);
    const gid = Number(account?.[3]);
    if (account && uid > 0 && gid >= 0) return { uid, gid };
  }
  return NOBODY;
}

/**
 * The folders on the way to (and including) `path` that `user` may not pass, outermost first. Folders that
 * do not exist yet count as open, as we shall make them. Mode bits decide; access lists are not read.
 */
export function blockedFolders(path: string, user: SystemUser): string[] {
  const real = realExisting(path);
  const folders: string[] = [];
  for (let folder = real; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  return folders.filter((folder) => !maySearch(statSync(folder), user));
}

function maySearch(folder: Stats, user: SystemUser): boolean {
  if (folder.uid === user.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === user.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

/** The real path of `path`, or of its nearest ancestor that exists. */
function realExisting(path: string): string {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    if (statSync(candidate, { throwIfNoEntry: false })) return realpathSync(candidate);
    if (candidate === dirname(candidate)) return candidate;
  }
}
