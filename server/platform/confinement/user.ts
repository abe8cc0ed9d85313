import { dedicatedUser, readAccounts, type SystemUser } from "../db/embedded/system-user.ts";

/** Account that an operator may create; without it a user ID that no account has is used. */
const accountName = "parley-media";
const firstFreeId = 60_900;

/**
 * The unprivileged user that confined programs run as when the server is root; null when it is not, because only root
 * may become another user.
 */
export function confinedUser(): SystemUser | null {
  return process.getuid?.() === 0 ? dedicatedUser(accountName, firstFreeId, readAccounts()) : null;
}
