import { execFile } from "node:child_process";
import { lstatSync } from "node:fs";
import { lchown } from "node:fs/promises";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import { type Binaries, POSTGRES_ENVIRONMENT } from "./binaries/binaries.ts";
import { EmbeddedDatabaseError, messageOf } from "./errors.ts";
import { SUPERUSER } from "./settings.ts";
import { parseAccounts, readAccounts, type SystemUser } from "./system-user.ts";
import type { Location } from "./types.ts";

const run = promisify(execFile);

/** How initdb is started: PostgreSQL itself runs as any user ID, but initdb demands one with an account. */
export interface InitdbIdentity {
  /** The user to start it as, who owns its files meanwhile; undefined: as ourselves. */
  readonly user: SystemUser | undefined;
  /** Goes before the command: a user namespace in which our user ID has an account. */
  readonly prefix: readonly string[];
}

/**
 * Finds a way to run initdb for a cluster of `user` (undefined: ourselves). Creates nothing.
 * @throws Error with the remedy when the user ID has no account and nothing can stand in for it.
 */
export async function initdbIdentity(user: SystemUser | undefined): Promise<InitdbIdentity> {
  const accounts = parseAccounts(readAccounts()).filter((account) => account.uid > 0);
  if (user) {
    if (accounts.some((account) => account.uid === user.uid)) return { user, prefix: [] };
    const substitute = accounts.find((account) => account.name === "nobody") ?? accounts[0];
    if (substitute) return { user: { uid: substitute.uid, gid: substitute.gid }, prefix: [] };
    throw new EmbeddedDatabaseError(
      "PostgreSQL needs an account other than root in /etc/passwd to create its database: add one, for example with: useradd --system parley-db",
    );
  }
  if (hasAccount()) return { user: undefined, prefix: [] };
  for (const { uid, gid } of accounts.slice(-1)) {
    const prefix = ["unshare", "--user", `--map-user=${uid}`, `--map-group=${gid}`, "--"];
    const works = await run("unshare", [...prefix.slice(1), "true"]).then(
      () => true,
      () => false,
    );
    if (works) return { user: undefined, prefix };
  }
  throw new EmbeddedDatabaseError(
    `user ID ${process.getuid?.()} has no entry in /etc/passwd, which PostgreSQL needs to create its database: add one, run Parley as a user with an account, or set PARLEY_DATABASE_URL`,
  );
}

function hasAccount(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/** Creates a cluster in an empty folder, which belongs to the identity's user. @throws Error with initdb's reason. */
export async function runInitdb(
  binaries: Binaries,
  identity: InitdbIdentity,
  cluster: string,
  passwordFile: string,
  skipSync: boolean,
): Promise<void> {
  const [file = binaries.initdb, ...args] = [
    ...identity.prefix,
    binaries.initdb,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    "--auth-local=scram-sha-256",
    "--auth-host=reject",
    "--encoding=UTF8",
    // The builtin provider sorts by code point and knows Unicode's letters, the same on every machine, so an
    // operating system's update cannot damage an index.
    "--locale=C",
    // Trigrams and text search ask the operating system what a letter is; with C they know only ASCII's.
    `--lc-ctype=${await findUtf8Locale()}`,
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--data-checksums",
    "--no-instructions",
    ...(skipSync ? ["--no-sync"] : []),
    "-D",
    cluster,
  ];
  try {
    await run(file, args, { ...identity.user, cwd: "/", env: POSTGRES_ENVIRONMENT });
  } catch (error) {
    const output = error instanceof Error && "stderr" in error ? String(error.stderr) : messageOf(error);
    const lines = output.trim().split("\n");
    throw new EmbeddedDatabaseError(lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1), {
      cause: error,
    });
  }
}

/**
 * Gives a cluster on which no PostgreSQL runs to the user it has to run as. The folder itself comes last, so a transfer
 * that was killed is repeated by the next start; until then it is root's and closed, so that its previous owner cannot
 * redirect the transfer to other files.
 * @returns its previous owner, if it had another one.
 */
export async function transferCluster({
  clusterDir,
  user,
}: Pick<Location, "clusterDir" | "user">): Promise<SystemUser | undefined> {
  const { uid, gid } = lstatSync(clusterDir);
  if (!user || uid === user.uid) return undefined;
  await lchown(clusterDir, 0, 0);
  await run("chown", ["-RhP", `${user.uid}:${user.gid}`, clusterDir]);
  return uid === 0 ? undefined : { uid, gid };
}

/** Every Linux has C.UTF-8 and macOS en_US.UTF-8; C is always there. */
async function findUtf8Locale(): Promise<string> {
  const listed = await run("locale", ["-a"]).catch(() => ({ stdout: "" }));
  const plain = (name: string): string => name.toLowerCase().replaceAll("-", "");
  const present = new Set(listed.stdout.split("\n").map((line) => plain(line.trim())));
  return ["C.UTF-8", "en_US.UTF-8"].find((name) => present.has(plain(name))) ?? "C";
}
