import { lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** An unprivileged account to run PostgreSQL as. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/** Account that an operator may create for PostgreSQL; without it a user ID that no account has is used. */
const accountName = "parley-db";
const firstFreeId = 60_950;

/**
 * The user PostgreSQL runs as, or undefined for "as ourselves". Only root needs another one, because PostgreSQL refuses
 * root. It is a user of its own, which nothing else runs as, unless the whole data folder belongs to an ordinary user:
 * that user must be able to start it again.
 */
export function databaseUser(clusterDir: string, dataDir: string): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const cluster = lstatSync(clusterDir, { throwIfNoEntry: false });
  if (cluster && cluster.uid !== 0 && statSync(dataDir).uid === cluster.uid)
    return { uid: cluster.uid, gid: cluster.gid };
  return dedicatedUser(accountName, firstFreeId, readAccounts());
}

/**
 * A user for one purpose: the account of that name, or the first user ID from `firstId` that no account has, with the
 * group of the same number. A process needs no account to run.
 * @param accounts content of /etc/passwd.
 */
export function dedicatedUser(name: string, firstId: number, accounts: string): SystemUser {
  const known = parseAccounts(accounts);
  const named = known.find((account) => account.name === name && account.uid > 0);
  if (named) return { uid: named.uid, gid: named.gid };
  let id = firstId;
  while (known.some((account) => account.uid === id)) id += 1;
  return { uid: id, gid: id };
}

/** Content of /etc/passwd; empty where there is none. */
export function readAccounts(): string {
  try {
    return readFileSync("/etc/passwd", "utf8");
  } catch {
    return "";
  }
}

/** The accounts of /etc/passwd. */
export function parseAccounts(text: string): { name: string; uid: number; gid: number }[] {
  return text
    .split("\n")
    .map((line) => line.split(":"))
    .filter((fields) => fields.length >= 4)
    .map(([name = "", , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
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
