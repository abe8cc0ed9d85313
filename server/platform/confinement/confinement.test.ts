import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { confine, type Method } from "./command.ts";
import { confinedEnvironment } from "./detect.ts";
import {
  type Confinement,
  closeFolder,
  describeConfinement,
  detectConfinement,
  openFolder,
  outputPath,
} from "./index.ts";

const run = promisify(execFile);
const isLinux = process.platform === "linux";
const linuxOnly = isLinux ? {} : { skip: "namespaces and no_new_privs are Linux's" };
const rootOnly = isLinux && process.getuid?.() === 0 ? {} : { skip: "needs root on Linux" };
const limits = { addressSpaceMb: 5000, cpuSec: 77, fileMb: 9 };

const base = mkdtempSync(join(tmpdir(), "parley-confinement-"));
chmodSync(base, 0o755);
after(() => rmSync(base, { recursive: true, force: true }));
const secretPath = join(base, "secret");
writeFileSync(secretPath, "x", { mode: 0o600 });
const listener = createServer((_request, response) => response.end());
await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
after(() => listener.close());
const { port } = listener.address() as AddressInfo;

/** What a confined program saw, when a process of `identity` (by default this one) started it. */
async function seenBy(identity: { uid?: number; gid?: number } = {}) {
  const parent = mkdtempSync(join(base, "work-"));
  const folder = join(parent, "folder");
  mkdirSync(folder);
  if (identity.uid !== undefined) await run("chown", ["-R", `${identity.uid}:${identity.gid}`, parent]);
  const source = `
    import { closeFolder, detectConfinement, openFolder, spawnConfined } from ${JSON.stringify(new URL("./index.ts", import.meta.url).href)};
    const [confinement, folder] = [await detectConfinement(), ${JSON.stringify(folder)}];
    await openFolder(confinement, folder, "/etc/hostname");
    const child = spawnConfined(confinement, {
      script: ${JSON.stringify(fileURLToPath(new URL("./test/program.ts", import.meta.url)))},
      args: [${JSON.stringify(JSON.stringify({ port, secretPath }))}],
      folder,
      limits: ${JSON.stringify(limits)},
      stdio: ["ignore", "inherit", "inherit"],
    });
    await new Promise((resolve) => child.once("exit", resolve));
    await closeFolder(confinement, folder);`;
  await run(process.execPath, ["--input-type=module", "-e", source], {
    ...identity,
    cwd: "/",
    env: { PATH: process.env.PATH, PARLEY_SECRET: "secret" },
  });
  return { folder, seen: JSON.parse(readFileSync(join(folder, "seen.json"), "utf8")) };
}

const ofEverySystem = {
  noNewPrivs: "1",
  capEff: "0000000000000000",
  addressSpace: String(5000 * 1024 * 1024),
  cpuTime: "77",
  fileSize: String(9 * 1024 * 1024),
  openFiles: "256",
  core: "0",
  environment: ["PATH", "MALLOC_ARENA_MAX"],
};

test(
  "started by root: another user, no capabilities, no_new_privs, limits, no network, no escape",
  rootOnly,
  async () => {
    const { folder, seen } = await seenBy();
    const { user } = (await detectConfinement()).method;
    assert.ok(user !== null && user.uid > 0);
    assert.deepEqual(seen, {
      ...ofEverySystem,
      uid: user.uid,
      groups: [user.gid],
      capBnd: "0000000000000000",
      connect: "ENETUNREACH",
      readSecret: "EACCES",
      writeOutside: "EACCES",
      becomeRoot: "EPERM",
    });
    assert.equal(statSync(folder).uid, 0, "the folder is the server's again");
    assert.equal(statSync(join(folder, "seen.json")).uid, 0, "and so is what was written");
  },
);

test("started by an unprivileged user: no capabilities, no_new_privs, limits", rootOnly, async () => {
  const { seen } = await seenBy({ uid: 65534, gid: 65534 });
  for (const [name, value] of Object.entries(ofEverySystem)) assert.deepEqual(seen[name], value, name);
  assert.equal(seen.uid, 65534);
  // User namespaces may be forbidden here; then the log says that there is a network.
  const namespaces = await run("unshare", ["--user", "--net", "true"], { uid: 65534, gid: 65534 }).then(
    () => true,
    () => false,
  );
  assert.equal(seen.connect, namespaces ? "ENETUNREACH" : "allowed");
});

test("the description names active protections and warns about missing ones", () => {
  const method: Method = { user: null, isolatesNetwork: false, dropsPrivileges: false, mountPoint: null };
  const facts = { uid: 60_900, noNewPrivs: true, hasCapabilities: false, hasNetwork: false };
  assert.deepEqual(describeConfinement({ method, facts }), {
    isWeak: false,
    line: "media files are decoded as user 60900, with no_new_privs, without capabilities, without network access, with limits for memory, CPU time and files",
  });
  for (const worse of [{ uid: 0 }, { noNewPrivs: false }, { hasCapabilities: true }, { hasNetwork: true }])
    assert.ok(describeConfinement({ method, facts: { ...facts, ...worse } }).isWeak);
});

test("without each optional method the program still runs under its limits", linuxOnly, async () => {
  const { method } = await detectConfinement();
  const script = fileURLToPath(new URL("./probe.ts", import.meta.url));
  for (const weaker of [
    method,
    { ...method, isolatesNetwork: false },
    { ...method, isolatesNetwork: false, dropsPrivileges: false },
    { ...method, user: null, isolatesNetwork: false },
  ]) {
    const { file, args, identity } = confine(weaker, script, [], limits);
    const { stdout } = await run(file, args, { ...identity, cwd: "/", env: confinedEnvironment });
    const facts = JSON.parse(stdout);
    assert.equal(facts.uid, weaker.user?.uid ?? process.getuid?.());
    assert.equal(facts.noNewPrivs, weaker.dropsPrivileges);
    assert.equal(facts.hasNetwork, !weaker.isolatesNetwork);
  }
});

test("a checkout the user can't enter is mounted for the program only", rootOnly, async () => {
  const { method } = await detectConfinement();
  const mountPoint = join(base, "checkout");
  mkdirSync(mountPoint);
  const script = fileURLToPath(new URL("./probe.ts", import.meta.url));
  const { file, args } = confine({ ...method, mountPoint }, script, [], limits);
  const { stdout } = await run(file, args, { cwd: "/", env: confinedEnvironment });
  assert.deepEqual(JSON.parse(stdout), (await detectConfinement()).facts);
  assert.equal(existsSync(join(mountPoint, "package.json")), false, "nothing is mounted for anybody else");
});

test(
  "work folder: an object is readable through the group, and leftover links are removed",
  rootOnly,
  async () => {
    const confinement = (await detectConfinement()) as Confinement & {
      method: { user: { uid: number; gid: number } };
    };
    const { uid, gid } = confinement.method.user;
    const folder = mkdtempSync(join(base, "folder-"));
    const input = await openFolder(confinement, folder, secretPath);
    assert.equal(statSync(folder).uid, uid);
    assert.equal(statSync(join(folder, input)).ino, statSync(secretPath).ino);
    const { uid: owner, gid: group, mode } = statSync(secretPath);
    assert.deepEqual([owner, group, mode & 0o777], [0, gid, 0o640]);

    const as = { uid, gid, cwd: folder };
    await run("sh", ["-c", "echo good > good; ln -s /etc/passwd link; mkdir deep; echo x > other"], as);
    await closeFolder(confinement, folder);
    assert.equal(statSync(join(folder, "other")).uid, 0);
    for (const name of ["link", "deep"]) assert.equal(existsSync(join(folder, name)), false, name);
    assert.equal(await outputPath(folder, "other"), join(folder, "other"));
    symlinkSync("/etc/passwd", join(folder, "link"));
    linkSync(secretPath, join(folder, "hard"));
    for (const said of ["link", "hard", "missing", "../secret", "/etc/passwd", "."])
      await assert.rejects(outputPath(folder, said), /no file of its folder/, said);
  },
);

test("a child that ignores signals ends at its CPU time limit", linuxOnly, async () => {
  const { method } = await detectConfinement();
  const script = join(base, "busy.mjs");
  writeFileSync(script, "for (;;);");
  const { file, args, identity } = confine(method, script, [], { ...limits, cpuSec: 1 });
  const child = execFile(file, args, { ...identity, cwd: "/", env: confinedEnvironment }, () => {});
  const [, signal] = await once(child, "exit");
  assert.match(String(signal), /SIGXCPU|SIGKILL/);
});
