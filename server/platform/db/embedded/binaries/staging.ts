import { randomBytes } from "node:crypto";
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { codeOf, EmbeddedDatabaseError } from "../errors.ts";
import { makeFolder, readIfExists } from "../files.ts";
import { hydrateSymlinks } from "./symlinks.ts";

const STAMP_FILE = "parley-stamp";
/** A copy takes a second; what is older than this was left by a process that died. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/**
 * Copies PostgreSQL's programs to `<stageDir>/postgresql-<version>`, readable for everybody and writable for
 * us alone, and returns that folder. The copy is made beside it and renamed, so it is complete or not there,
 * and any number of processes may do this at once: the first rename wins.
 */
export async function stageBinaries(native: string, stamp: string, stageDir: string): Promise<string> {
  const target = join(stageDir, `postgresql-${stamp.slice(stamp.lastIndexOf("@") + 1)}`);
  if (await isComplete(target, stamp)) return target;

  await makeFolder(stageDir, 0o755);
  await removeAbandoned(stageDir);
  const copy = `${target}.new-${randomBytes(6).toString("hex")}`;
  try {
    await copyTree(native, copy);
    if (!(await hydrateSymlinks(copy)))
      throw new EmbeddedDatabaseError(`the library links in ${copy} could not be made`);
    await writeFile(join(copy, STAMP_FILE), stamp, { mode: 0o644 });
    await putInPlace(copy, target, stamp);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return target;
}

async function isComplete(target: string, stamp: string): Promise<boolean> {
  return (await readIfExists(join(target, STAMP_FILE))) === stamp;
}

async function putInPlace(copy: string, target: string, stamp: string): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await rename(copy, target);
    } catch (error) {
      if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error))) throw error;
    }
    if (await isComplete(target, stamp)) return;
    // Somebody damaged it. Renaming first keeps the time without a complete folder short.
    const broken = `${target}.new-broken-${randomBytes(6).toString("hex")}`;
    await rename(target, broken).catch(() => undefined);
    await rm(broken, { recursive: true, force: true });
  }
  throw new EmbeddedDatabaseError(`PostgreSQL's programs could not be copied to ${target}`);
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to);
  // Modes are set, not copied: a checkout made with umask 077 would carry its 0600 along.
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      await copyTree(source, target);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else {
      await copyFile(source, target);
      await chmod(target, to.endsWith("/bin") || ((await stat(source)).mode & 0o100) !== 0 ? 0o755 : 0o644);
    }
  }
}

async function removeAbandoned(stageDir: string): Promise<void> {
  for (const name of await readdir(stageDir)) {
    if (!/^postgresql-.*\.new-/.test(name)) continue;
    const path = join(stageDir, name);
    const age =
      Date.now() -
      (await stat(path)
        .then((s) => s.mtimeMs)
        .catch(() => Date.now()));
    if (age > ABANDONED_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}
