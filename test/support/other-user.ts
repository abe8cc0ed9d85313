import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const manifest = fileURLToPath(new URL("../../package.json", import.meta.url));

/** For the `skip` option of a test that runs commands as another system user. @returns the reason, or false. */
export function skipWithoutUser(user: { readonly uid: number; readonly gid: number }): string | false {
  if (process.getuid?.() !== 0) return "needs root";
  const { status } = spawnSync("cat", [manifest], { ...user, stdio: "ignore" });
  return status !== 0 && "the program is in a folder that other users can't enter";
}
