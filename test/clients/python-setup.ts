import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageFolder } from "./client-setup.ts";

/** The folder that the Python package is imported from. */
export const pythonSource = join(packageFolder("python"), "src");

const hasHttpx =
  spawnSync("python3", ["-c", "import sys, httpx; sys.exit(sys.version_info < (3, 11))"]).status === 0;
/** The reason to skip tests of the Python package, or false. */
export const skipWithoutPython = hasHttpx ? false : "needs Python 3.11 with httpx (Debian: python3-httpx)";
