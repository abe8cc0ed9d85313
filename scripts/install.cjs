"use strict";
/**
 * Makes node_modules match package-lock.json before anything of Parley runs, so that `npm start`, `npm test` and
 * `npx parley` work on a fresh checkout. Plain CommonJS for Node 20 without dependencies, because it runs before
 * there are any, on whatever Node the machine has.
 *
 * Packages are installed into a folder of their own and swapped in when they are whole: whatever happens before that,
 * a working installation stays as it is.
 */
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { withLock } = require("./install-lock.cjs");
const { prune } = require("./install-prune.cjs");
const tree = require("./install-tree.cjs");
const { npmCommand } = require("./npm-command.cjs");
const { webFolder } = require("./web-folder.cjs");

const ROOT = path.dirname(__dirname);
/** How long commands do not try again after the registry could not be reached. */
const RETRY_AFTER_MS = 10 * 60_000;

/**
 * Installs the dependencies unless they are there. Where that fails and every package is installed in some version, the
 * program starts with those. Throws an Error whose message is one line for the terminal.
 *
 * @param {string} [root] the folder with package-lock.json
 * @param {object} [options]
 * @param {"runtime" | "web" | "all"} [options.scope] what the program needs; also what builds the web app; or all
 *   development packages. Where more is installed, it stays
 * @param {boolean} [options.retry] try also when the last attempt failed a moment ago
 * @returns {Promise<void>}
 */
async function ensureInstalled(root = ROOT, { scope = "runtime", retry = false } = {}) {
  const facts = tree.factsOf(root);
  if (tree.stampMatches(facts, scope)) return;
  if (!fs.existsSync(facts.lockfile))
    throw new Error(`${facts.lockfile} is missing: is this a whole checkout?`);
  const work = workOf(root);
  if (!fs.existsSync(work.folder) && acceptInstalled(facts, scope)) return;
  const library = tree.nodeProblem(facts) && tree.missingLibrary();
  if (library) throw new Error(library);
  if (!mayWrite(root)) {
    startWithInstalled(facts, scope, `this user can't write to ${root}; run: npm run build as its owner`);
    return;
  }
  await withLock(path.join(root, ".parley-install.lock"), say, async (recordChild) => {
    // Killed between the two renames of a swap.
    if (!fs.existsSync(facts.modules) && fs.existsSync(work.old)) fs.renameSync(work.old, facts.modules);
    if (!acceptInstalled(facts, scope)) await install(facts, work, { scope, retry }, recordChild);
    if (tree.stampMatches(facts, scope)) fs.rmSync(work.folder, { recursive: true, force: true });
  });
}

/** Where packages are prepared: on the same file system, so that a rename puts them in place. */
function workOf(root) {
  const folder = path.join(root, ".parley-install");
  return {
    folder,
    staged: path.join(folder, "new"),
    /** Written when `staged` is whole; says for which lock file and scope. */
    ready: path.join(folder, "ready"),
    /** What was installed before, during a swap. */
    old: path.join(folder, "old"),
    failed: path.join(folder, "failed"),
  };
}

/** True when all is there although no stamp says so: `npm install` or `npm ci` was run by hand, or another process did it. */
function acceptInstalled(facts, scope) {
  if (!tree.isComplete(facts, scope) || tree.nodeProblem(facts)) return false;
  tree.writeStamp(facts);
  return true;
}

async function install(facts, work, { scope, retry }, recordChild) {
  const installed = tree.installedScope(facts);
  const target = tree.includes(installed, scope) ? installed : scope;
  const wanted = `${tree.hashOf(facts.lockfile)} ${process.platform}-${process.arch} ${target}`;
  if (readIfExists(work.ready) !== wanted) {
    const [failedFor, at] = (readIfExists(work.failed) ?? "").split("\n");
    const failedAgo = Date.now() - Number(at);
    if (!retry && failedFor === wanted && failedAgo >= 0 && failedAgo < RETRY_AFTER_MS) {
      startWithInstalled(facts, scope, "the last attempt failed a few minutes ago");
      return;
    }
    try {
      await stage(facts, work, target, recordChild);
    } catch (error) {
      fs.rmSync(work.staged, { recursive: true, force: true });
      fs.writeFileSync(work.failed, `${wanted}\n${Date.now()}`);
      startWithInstalled(facts, scope, error.message);
      return;
    }
    fs.writeFileSync(`${work.ready}.new`, wanted);
    fs.renameSync(`${work.ready}.new`, work.ready);
  }
  swap(facts, work);
  tree.writeStamp(facts);
}

/** Installs into the work folder. */
async function stage(facts, work, scope, recordChild) {
  fs.rmSync(work.ready, { force: true });
  fs.rmSync(work.staged, { recursive: true, force: true });
  fs.mkdirSync(work.staged, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
    const file = path.join(facts.root, name);
    if (fs.existsSync(file)) fs.copyFileSync(file, path.join(work.staged, name));
  }
  const staged = tree.factsOf(work.staged);
  if (scope === "web") demandForWebApp(staged);
  say("installing the dependencies (npm ci); this happens once after each update");
  const dev = scope === "runtime" ? "--omit=dev" : "--include=dev";
  await runNpm(work.staged, ["ci", dev, "--include=optional"], recordChild);
  if (tree.nodeProblem(staged)) {
    // npm ran no install scripts; the package `node` fetches its program in one.
    say("fetching Node (npm rebuild node)");
    await runNpm(work.staged, ["rebuild", "node", "--ignore-scripts=false"], recordChild).catch(
      () => undefined,
    );
  }
  const problem = tree.nodeProblem(staged);
  if (problem)
    throw new Error(
      `the Node of the dependencies does not run (${problem}); to see why, in ${facts.root} run: npm ci && npm rebuild node --ignore-scripts=false --foreground-scripts`,
    );
  if (!tree.isComplete(staged, scope)) throw new Error("npm left packages out: try again");
  if (scope !== "all") prune(work.staged);
}

/** Removes the other development packages from package.json; npm then leaves them out and takes versions from the lock. */
function demandForWebApp({ manifest }) {
  const content = JSON.parse(fs.readFileSync(manifest, "utf8"));
  const { devDependencies, webAppPackages } = content;
  content.devDependencies = Object.fromEntries(webAppPackages.map((name) => [name, devDependencies[name]]));
  fs.writeFileSync(manifest, JSON.stringify(content));
}

/** Two renames; killed between them, the next run puts the old folder back and repeats the swap. */
function swap(facts, work) {
  fs.rmSync(work.old, { recursive: true, force: true });
  try {
    if (fs.lstatSync(facts.modules, { throwIfNoEntry: false })) fs.renameSync(facts.modules, work.old);
  } catch (error) {
    if (error.code !== "EBUSY" && error.code !== "EXDEV") throw error;
    throw new Error(
      `${facts.modules} is a mount point and can't be replaced: in ${facts.root} run: npm ci --omit=dev`,
    );
  }
  fs.renameSync(path.join(work.staged, "node_modules"), facts.modules);
  fs.rmSync(work.ready, { force: true });
}

/** Returns when the program can start with what is installed, and says so; throws when it can't. */
function startWithInstalled(facts, scope, reason) {
  const missing = tree.missingPackages(facts, scope);
  const problem = tree.nodeProblem(facts);
  if (scope === "all" || problem || missing.length > 0) {
    const what = missing[0] ? `${missing[0].replace(/^node_modules\//, "")} is not installed` : "";
    throw new Error(
      `the dependencies could not be installed: ${reason}${what && !problem ? `; ${what}` : ""}`,
    );
  }
  say(
    `the installed packages are not those of package-lock.json and could not be updated: ${reason}; starting with what is installed`,
  );
}

function mayWrite(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function readIfExists(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Runs npm with its output on our stderr, because stdout belongs to the command that follows. */
function runNpm(folder, args, recordChild) {
  // npm would inherit these and treat this folder as another package, or refuse the older Node.
  const options = ["--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error", "--global=false"];
  // A registry that can't be reached is to be known within seconds.
  const network = ["--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000"];
  const { command, prefix } = npmCommand(path.dirname(path.dirname(folder)));
  // An outer npm names its own folder in this one.
  const { npm_config_local_prefix: _outer, ...env } = process.env;
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...prefix, ...args, ...options, ...network, "--prefix", folder], {
      cwd: folder,
      env,
      stdio: ["ignore", 2, 2],
    });
    if (child.pid) recordChild(child.pid);
    const forward = (signal) => child.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, forward);
    const settle = (problem) => {
      for (const signal of signals) process.off(signal, forward);
      if (problem) reject(new Error(`npm ${args[0]} failed (${problem}), see above`));
      else resolve();
    };
    child.once("error", (error) => settle(error.message));
    child.once("exit", (code, signal) => settle(code === 0 ? undefined : (signal ?? `exit code ${code}`)));
  });
}

function say(line) {
  process.stderr.write(`parley: ${line}\n`);
}

module.exports = { ensureInstalled };

/** What a command line asks for; `--web`: what builds the web app, unless it is built. */
function scopeOf(args) {
  if (args.includes("--dev")) return "all";
  return args.includes("--web") && !fs.existsSync(webFolder(ROOT)) ? "web" : "runtime";
}

if (require.main === module) {
  ensureInstalled(ROOT, { scope: scopeOf(process.argv), retry: true }).catch((error) => {
    say(error.message);
    process.exitCode = 1;
  });
}
