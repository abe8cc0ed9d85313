import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type CommandResult, type CommandUser, runCommand } from "../support/command-process.ts";
import { skipWithoutUser } from "../support/other-user.ts";
import { freePort } from "../support/port.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
/** The user of the service, as `User=` in a systemd unit; any account will do. */
const name = "nobody";
const idOf = (option: string): number => Number(execFileSync("id", [option, name], { encoding: "utf8" }));
const user = { uid: idOf("-u"), gid: idOf("-g") };
const skip = skipWithoutUser(user);

const folder = mkdtempSync(join(tmpdir(), "parley-root-"));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the service's own commands. */
const service: CommandUser = { ...user, compiled: skip === false ? ownFolder("compiled") : "" };

/** A data folder of the service, which the first test fills as root, and which every test leaves to the service. */
const data = skip === false ? ownFolder("service") : "";

/** A data folder of the same user, in which root alone runs an installation; the last test uses it too. */
const mounted = skip === false ? ownFolder("mounted") : "";

/** Runs a command of root's in a process of its own, which may become another user's. */
async function run(dataDir: string, args: readonly string[], cwd?: string): Promise<CommandResult> {
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir };
  return promisify(execFile)(process.execPath, [main, ...args], { cwd, env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: CommandResult) => error,
  );
}

/** Runs a command beside others: as the service's user, or as root, whose command remains root's. */
async function runAs(
  as: CommandUser | "root",
  dataDir: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  const request = { args, env: { ...process.env, PARLEY_DATA_DIR: dataDir, ...env } };
  return runCommand(request, as === "root" ? undefined : as);
}

/** Creates a folder of the service's user, as `StateDirectory=` does. */
function ownFolder(title: string): string {
  const path = join(folder, title);
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, user.uid, user.gid);
  return path;
}

/** The files in a folder that don't belong to the service's user. */
function foreign(path: string): string {
  return execFileSync("find", [path, "!", "-user", name], { encoding: "utf8" });
}

test("commands that root runs on a service's data folder leave nothing there that the service can't use", {
  skip,
}, async () => {
  const backups = ownFolder("backups");
  // The service's user can't enter the current folder of root.
  const closed = join(folder, "closed");
  mkdirSync(closed, { mode: 0o700 });
  for (const args of [
    ["workspace", "create", "--name", "First"],
    ["backup", backups],
    ["backup", "verify", backups],
    ["restore", backups, "--replace", "--yes"],
    ["doctor"],
  ]) {
    const { stderr } = await run(data, args, closed);
    assert.doesNotMatch(stderr, /parley: /);
    assert.deepEqual([foreign(data), foreign(backups)], ["", ""], args.join(" "));
  }
  const { code, stderr } = await runAs(service, data, ["backup", backups]);
  assert.equal(code, 0, stderr);
});

test("a backup to a folder of root's fails with one line that says who needs access", {
  skip,
}, async () => {
  const backups = join(folder, "of-root", "backups");
  mkdirSync(dirname(backups));
  const { code, stderr } = await run(data, ["backup", backups]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`^parley: .*EACCES.*chown -R ${name} ${backups}.*\n$`));
});

test("without access to the data folder or its database, server and commands fail with one line that names the remedy", {
  skip,
}, async () => {
  const cluster = join(data, "postgres");
  const password = join(data, "postgres.password");
  const toRoot = (path: string) => chownSync(path, 0, 0);
  const toUser = (path: string) => chownSync(path, user.uid, user.gid);
  const secure = (path: string) => chmodSync(path, 0o700);
  for (const [path, change, undo, expected] of [
    [data, toRoot, toUser, `EACCES.*chown -R ${name} ${data}`],
    [cluster, toRoot, toUser, `${cluster} belongs to user 0.*chown -R ${user.uid} ${data}`],
    [cluster, () => chmodSync(cluster, 0o755), secure, `mode 0755.*chmod 700 ${cluster}`],
    [cluster, () => chmodSync(cluster, 0), secure, `mode 0000: chmod 700 ${cluster}`],
    [password, toRoot, toUser, "run Parley as the user who created the data folder"],
  ] as const) {
    change(path);
    for (const args of [["workspace", "list"], ["serve"]]) {
      const port = { PARLEY_PORT: `${await freePort()}` };
      const { code, stderr } = await runAs(service, data, args, port);
      const lines = stderr
        .trim()
        .split("\n")
        .filter((line) => !line.startsWith("{"));
      assert.equal(lines.length, 1, `${path}: ${stderr}`);
      assert.match(lines[0] ?? "", new RegExp(`^parley: .*(?:${expected})`));
      assert.equal(code, 1);
    }
    undo(path);
  }
  assert.equal((await runAs(service, data, ["workspace", "list"])).code, 0);
});

test("an installation that root runs in the folder of another user continues as root", {
  skip,
}, async () => {
  mkdirSync(join(mounted, "objects"));
  const { code, stderr } = await runAs("root", mounted, ["backup", join(mounted, "backups")]);
  assert.equal(code, 0, stderr);
  assert.equal(statSync(join(mounted, "backups")).uid, 0);
  const { stdout } = await runAs("root", mounted, ["doctor"]);
  assert.match(stdout, new RegExp(`belongs to user ${user.uid}.*\n.*chown -R ${user.uid} ${mounted}`));
});

test("doctor names what an earlier version's root commands left, and the chown that repairs it", {
  skip,
}, async () => {
  const backups = ownFolder("left-backups");
  assert.equal((await runAs(service, data, ["backup", backups])).code, 0);
  // As root's doctor, which becomes this user's, but beside others.
  const problems = async (): Promise<string> => {
    const { stdout } = await runAs(service, data, ["doctor"], { PARLEY_BACKUP_TO: backups });
    return stdout.replaceAll(/\n +-> /g, " -> ");
  };
  assert.doesNotMatch(await problems(), /ERROR +files/);
  for (const name of ["scratch", "verify"]) mkdirSync(join(data, name), { mode: 0o700, recursive: true });
  for (const [left, ofBackups, found] of [
    [join(data, "scratch"), backups, "backups: .*"],
    [join(data, "verify"), join(backups, "backups"), "files of the backups: .* can't use .*"],
    [join(data, "objects", "parley"), null, null],
  ] as const) {
    const given = [left, ofBackups].filter((path) => path !== null);
    for (const path of given) chownSync(path, 0, 0);
    chmodSync(left, 0o700);
    const text = await problems();
    assert.match(
      text,
      new RegExp(`ERROR +files of the data folder: .* can't use ${left}.* -> .*chown -R ${name} ${data}`),
    );
    if (found !== null) assert.match(text, new RegExp(`ERROR +${found} -> .*chown -R ${name} ${backups}`));
    for (const path of given) chownSync(path, user.uid, user.gid);
  }
});

test("a start that is refused leaves the database to the user who had it; a command that uses it takes it", {
  skip,
}, async () => {
  const cluster = join(mounted, "postgres");
  chownSync(mounted, 0, 0);
  const owner = statSync(cluster).uid;
  assert.notEqual(owner, user.uid);
  // As an earlier version left it.
  execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, cluster]);
  // Another store than that of the database.
  renameSync(join(mounted, "objects"), join(mounted, "away"));
  mkdirSync(join(mounted, "objects"));
  const refused = await runAs("root", mounted, ["serve"], { PARLEY_PORT: `${await freePort()}` });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /parley: .*store/);
  assert.equal(foreign(cluster), "");
  const listed = await runAs("root", mounted, ["workspace", "list"]);
  assert.equal(listed.code, 0, listed.stderr);
  assert.equal(statSync(cluster).uid, owner);
});
