"use strict";
/** Removes what a package contains for programmers: half of the files, and a quarter of the bytes, that npm installs. */
const fs = require("node:fs");
const path = require("node:path");
const { factsOf } = require("./install-tree.cjs");

/** Node runs no TypeScript in packages, and Parley doesn't use their source maps. */
const forProgrammers = /\.(?:[cm]?ts|tsx|map|mdx?)$/i;
const license = /licen[cs]e|notice|copying/i;

/**
 * Prunes a node_modules folder, and marks it, because type checks and tests need what is removed.
 *
 * @param {string} root the folder that contains it
 */
function prune(root) {
  const { modules, pruned } = factsOf(root);
  fs.writeFileSync(pruned, "");
  pruneNode(path.join(modules, "node"));
  removeFiles(modules);
}

/** The package `node` links its program from a second package, which contains Node's C++ headers too. */
function pruneNode(node) {
  const inner = path.join(node, "node_modules");
  if (!fs.existsSync(inner)) return;
  for (const name of fs.readdirSync(inner)) {
    const text = path.join(inner, name, "LICENSE");
    if (name.startsWith("node-") && fs.existsSync(text)) fs.copyFileSync(text, path.join(node, "LICENSE"));
  }
  fs.rmSync(inner, { recursive: true });
}

function removeFiles(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) removeFiles(full);
    else if (entry.isFile() && forProgrammers.test(entry.name) && !license.test(entry.name)) fs.rmSync(full);
  }
}

module.exports = { prune };
