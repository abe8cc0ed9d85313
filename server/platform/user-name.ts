import { userInfo } from "node:os";

/** The system user that runs this process, as the user would name it: the account's name, else the number. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container or setpriv may run it with a user ID that has no account.
    return String(process.getuid?.() ?? "");
  }
}
