import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SYSTEM_DIR } from "../db/embedded/location.ts";
import { confine, type Method } from "./command.ts";
import { confinedUser } from "./user.ts";

/** What holds inside a confined program, as the program itself saw it. */
export interface Facts {
  readonly uid: number;
  readonly noNewPrivs: boolean;
  readonly hasCapabilities: boolean;
  readonly hasNetwork: boolean;
}

/** The confinement in force on this machine. */
export interface Confinement {
  readonly method: Method;
  readonly facts: Facts;
}

/** Nothing of the server reaches a confined program: the settings hold secrets. */
export const confinedEnvironment: NodeJS.ProcessEnv = {
  PATH: "/usr/bin:/bin:/usr/sbin:/sbin",
  // Two arenas keep glibc from reserving memory for each thread.
  MALLOC_ARENA_MAX: "2",
};

const probeScript = fileURLToPath(new URL("./probe.ts", import.meta.url));
const probeLimits = { addressSpaceMb: 6144, cpuSec: 60, fileMb: 1 };
const mountPoint = join(SYSTEM_DIR, "checkout");

let detected: Promise<Confinement> | undefined;

/** Finds the strongest confinement that works here, once per process. @throws Error when none does. */
export function detectConfinement(): Promise<Confinement> {
  detected ??= detect();
  // A machine that was out of memory may be better at the next file.
  detected.catch(() => {
    detected = undefined;
  });
  return detected;
}

async function detect(): Promise<Confinement> {
  let failure: unknown;
  for (const method of methods()) {
    try {
      if (method.mountPoint !== null) await mkdir(method.mountPoint, { recursive: true, mode: 0o755 });
      const { file, args, identity } = confine(method, probeScript, [], probeLimits);
      const options = { ...identity, cwd: "/", env: confinedEnvironment };
      const { stdout } = await promisify(execFile)(file, args, options);
      return { method, facts: JSON.parse(stdout) as Facts };
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(`the program that decodes media does not start: ${(failure as Error).message}`, {
    cause: failure,
  });
}

/** Strongest first. Each is tried, because containers and systems forbid some of them in ways that can't be asked. */
function methods(): Method[] {
  const user = confinedUser();
  const plain: Method = { user: null, isolatesNetwork: false, dropsPrivileges: false, mountPoint: null };
  const asUser = user === null ? [] : [{ ...plain, user }];
  if (process.platform !== "linux") return [...asUser, plain];
  const variants = [true, false].map((isolatesNetwork) => ({
    ...plain,
    isolatesNetwork,
    dropsPrivileges: true,
  }));
  const reduced = user === null ? [] : variants.map((variant) => ({ ...variant, user }));
  return [
    ...reduced,
    ...asUser,
    ...reduced.map((variant) => ({ ...variant, mountPoint })),
    ...variants,
    plain,
  ];
}

/** One line for the log. `isWeak` when something is missing that a Linux system normally gives. */
export function describeConfinement({ facts }: Confinement): { isWeak: boolean; line: string } {
  const isRoot = facts.uid === 0;
  const parts = [
    isRoot ? "as root" : `as user ${facts.uid}`,
    facts.noNewPrivs ? "with no_new_privs" : "without no_new_privs",
    facts.hasCapabilities ? "with all capabilities" : "without capabilities",
    facts.hasNetwork ? "with network access" : "without network access",
    "with limits for memory, CPU time and files",
  ];
  const isWeak = isRoot || !facts.noNewPrivs || facts.hasCapabilities || facts.hasNetwork;
  return { isWeak, line: `media files are decoded ${parts.join(", ")}` };
}
