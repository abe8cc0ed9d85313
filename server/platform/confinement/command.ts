import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SystemUser } from "../db/embedded/system-user.ts";
import { programFile } from "./bundled-program.ts";

/** Limits that the operating system enforces on a confined program and on what it starts. */
export interface ResourceLimits {
  /** MiB of address space; Node reserves about 1,300 for each thread that runs JavaScript. */
  readonly addressSpaceMb: number;
  /** Seconds of CPU time, summed over all threads. */
  readonly cpuSec: number;
  /** MiB of the largest file it may write. */
  readonly fileMb: number;
}

/** One way to confine a program. A system allows some of them; `detect.ts` takes the first that works. */
export interface Method {
  /** The user it runs as; null: the server's own. */
  readonly user: SystemUser | null;
  /** Whether it gets a network namespace of its own, which has no interfaces. */
  readonly isolatesNetwork: boolean;
  /** Whether `setpriv` removes all capabilities and sets no_new_privs. */
  readonly dropsPrivileges: boolean;
  /** Folder in which the checkout is mounted for the program, where `user` can't enter the checkout itself. */
  readonly mountPoint: string | null;
}

/** A program, its arguments, and the user to start it as where the program does not change the user itself. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Without the two about WebAssembly, Node reserves 10 GiB for removing the types of each thread's code. */
const nodeFlags = [
  "--disable-warning=ExperimentalWarning",
  "--disable-wasm-trap-handler",
  "--wasm-max-mem-pages=4096",
];

/** Open files and sockets; the media program needs about forty. */
const maxOpenFiles = 256;
/** Added to the share of memory in use, in thousandths; the server's own is 0. */
const oomScore = 500;
/** Processes and threads of the dedicated user; one media program has about sixty. */
const maxProcesses = 1024;

/**
 * The command that runs a script of the checkout by Node under a method. It replaces itself step by step (`exec`), so
 * the process ID stays the same from the shell to Node.
 * @param script absolute path of the script.
 */
export function confine(
  method: Method,
  script: string,
  args: readonly string[],
  limits: ResourceLimits,
): Command {
  const node = nodeFor(method);
  const steps = [
    ...limitSteps(method, limits),
    ...namespaceSteps(method),
    ...privilegeSteps(method),
    node,
    ...nodeFlags,
    mountedPath(programFile(script), method),
    ...args,
  ];
  const [file = node, ...rest] = steps;
  const identity = method.dropsPrivileges || method.user === null ? {} : method.user;
  return { file, args: rest, identity };
}

/** Where the program finds a file of the checkout. */
function mountedPath(path: string, { mountPoint }: Method): string {
  return mountPoint === null ? path : join(mountPoint, path.slice(root.length));
}

/** Our own Node, unless the program sees only the checkout: then the Node that is installed in it. */
function nodeFor(method: Method): string {
  return method.mountPoint === null
    ? process.execPath
    : mountedPath(join(root, "node_modules", "node", "bin", "node"), method);
}

/** `ulimit` of the shell, as every system has one. dash calls the limit of processes -p and bash -u. */
function limitSteps({ user }: Method, limits: ResourceLimits): string[] {
  const script = [
    "ulimit -c 0",
    `ulimit -t ${Math.ceil(limits.cpuSec)}`,
    `ulimit -n ${maxOpenFiles}`,
    // Blocks of 512 bytes.
    `ulimit -f ${limits.fileMb * 2048}`,
    // macOS has no such limit.
    `ulimit -v ${limits.addressSpaceMb * 1024} 2>/dev/null`,
    // Counted for each user, so only where the user has no other processes.
    ...(user === null ? [] : [`{ ulimit -u ${maxProcesses} || ulimit -p ${maxProcesses}; } 2>/dev/null`]),
    // Where memory runs out, Linux ends this program, whose work is done again, and not the server.
    `{ echo ${oomScore} > /proc/self/oom_score_adj; } 2>/dev/null`,
    // The shell adds them to the environment.
    "unset PWD OLDPWD",
    'exec "$@"',
  ];
  return ["/bin/sh", "-c", script.join("; "), "sh"];
}

function namespaceSteps({ user, isolatesNetwork, mountPoint }: Method): string[] {
  if (!isolatesNetwork && mountPoint === null) return [];
  const own = user === null ? ["--user", "--map-current-user"] : [];
  const network = isolatesNetwork ? ["--net", "--ipc"] : [];
  if (mountPoint === null) return ["unshare", ...own, ...network, "--"];
  const mount = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  return ["unshare", ...own, ...network, "--mount", "--", "/bin/sh", "-c", mount, "sh", root, mountPoint];
}

function privilegeSteps({ user, dropsPrivileges }: Method): string[] {
  if (!dropsPrivileges) return [];
  const identity =
    user === null ? [] : ["--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"];
  // Only root may shrink the bounding set; for others no_new_privs makes it irrelevant.
  const bounding = process.getuid?.() === 0 ? ["--bounding-set=-all"] : [];
  return [
    "setpriv",
    ...identity,
    "--inh-caps=-all",
    "--ambient-caps=-all",
    ...bounding,
    "--no-new-privs",
    "--",
  ];
}
