import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * For the `skip` option of a test that needs programs that npm does not install.
 * @returns the reason to skip, or false if all are on the PATH.
 */
export function skipWithout(...programs: readonly string[]): string | false {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length > 0 && `not installed here: ${missing.join(", ")}`;
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder.
      return false;
    }
  });
}
