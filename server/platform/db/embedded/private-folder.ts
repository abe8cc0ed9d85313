import { createHash } from "node:crypto";
import { lchown, lstat, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EmbeddedDatabaseError } from "./errors.ts";
import { blockedFolders, type SystemUser } from "./system-user.ts";

/** With our names below it, a socket's path must stay under 103 bytes. */
const MAX_BASE_BYTES = 60;

/** The usual name under the temporary folder. */
export function privateFolderName(purpose: "db" | "lock", about: string): string {
  return `parley-${purpose}-${createHash("sha256").update(about).digest("hex").slice(0, 16)}`;
}

/**
 * A short folder under the system's temporary one that only `owner` (undefined: we ourselves) can use: made
 * with mode 0700, and one that exists is taken only if it is a real folder of that owner closed to all others,
 * as anybody may create names there. `about` is the long path it stands for.
 */
export async function privateFolder(
  purpose: "db" | "lock",
  about: string,
  owner: SystemUser | undefined,
): Promise<string> {
  // The second is for a TMPDIR that is long itself, that is missing, or that the database's user cannot enter.
  const bases = [tmpdir(), "/tmp"]
    .filter((base) => Buffer.byteLength(base) <= MAX_BASE_BYTES)
    .filter((base) => !owner || blockedFolders(base, owner).length === 0);
  for (const base of bases) {
    for (const suffix of ["", "-2", "-3", "-4"]) {
      const folder = join(base, privateFolderName(purpose, about) + suffix);
      if (await claim(folder, owner)) return folder;
    }
  }
  throw new EmbeddedDatabaseError(`no private folder could be made under ${bases.join(" or ") || tmpdir()}`);
}

async function claim(folder: string, owner: SystemUser | undefined): Promise<boolean> {
  const ours = process.getuid?.() ?? 0;
  const uid = owner?.uid ?? ours;
  // Whatever the reason it cannot be made, what lies there then decides.
  await mkdir(folder, { mode: 0o700 }).catch(() => undefined);
  const found = await lstat(folder).catch(() => undefined);
  if (!found?.isDirectory() || (found.mode & 0o077) !== 0) return false;
  if (found.uid === uid) return true;
  if (found.uid !== ours || !owner) return false;
  await lchown(folder, owner.uid, owner.gid);
  return true;
}
