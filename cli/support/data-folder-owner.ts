import { lstatSync, readdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../../server/platform/config/config.ts";
import { resolveDataDir } from "../../server/platform/db/embedded/location.ts";
import {
  blockedFolders,
  parseAccounts,
  readAccounts,
  type SystemUser,
} from "../../server/platform/db/embedded/system-user.ts";

const program = fileURLToPath(new URL("../..", import.meta.url));

/**
 * For commands that root runs: if the service has a user of its own, continues as that user, because the service can't use
 * what root creates in its folders. Call it before anything is created.
 * @throws ConfigError if this is impossible.
 */
export function becomeDataFolderOwner(): void {
  const dataDir = resolveDataDir(process.env.PARLEY_DATA_DIR, process.cwd());
  const owner = findServiceUser(dataDir);
  if (owner === null) return;
  const whose = `user ${owner.uid}, to which the data folder ${dataDir} belongs`;
  const [blocked] = blockedFolders(program, owner);
  if (blocked !== undefined)
    throw new ConfigError(
      `root runs commands as ${whose}, but that user can't enter ${blocked}; run the Parley that this user runs, or change the folder's owner`,
    );
  try {
    setGroups(owner);
    process.setgid?.(owner.gid);
    process.setuid?.(owner.uid);
  } catch (error) {
    throw new ConfigError(`root can't switch to ${whose} (${(error as Error).message}); run it as that user`);
  }
  // The default depends on the user and the current folder.
  process.env.PARLEY_DATA_DIR = dataDir;
  try {
    process.env.HOME = userInfo().homedir;
  } catch {
    // A user ID without an account has no home folder.
    delete process.env.HOME;
  }
}

/**
 * The user to which a data folder belongs; null if that is root, or if only root has used it: a root-run installation may
 * be in the folder of another user, such as one that was mounted into a container.
 */
function findServiceUser(dataDir: string): SystemUser | null {
  const folder = statSync(dataDir, { throwIfNoEntry: false });
  if (!folder?.isDirectory() || folder.uid === 0) return null;
  const owners = readdirSync(dataDir)
    // Every new volume has it.
    .filter((name) => name !== "lost+found")
    .map((name) => lstatSync(join(dataDir, name), { throwIfNoEntry: false })?.uid);
  if (owners.length > 0 && !owners.includes(folder.uid)) return null;
  const account = parseAccounts(readAccounts()).find(({ uid }) => uid === folder.uid);
  return { uid: folder.uid, gid: account?.gid ?? folder.gid };
}

/** The other groups of the account, if there is one. */
function setGroups({ uid, gid }: SystemUser): void {
  try {
    // Node has it, @types/node doesn't.
    const node: object = process;
    if ("initgroups" in node && typeof node.initgroups === "function") node.initgroups(uid, gid);
  } catch {
    process.setgroups?.([gid]);
  }
}
