"use strict";
/** Removes what a package contains for programmers: half of the files, and a quarter of the bytes, that npm installs. */
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { factsOf } = require("./install-tree.cjs");

/** Node runs no TypeScript in packages, Parley doesn't use their source maps, and nothing is linked with static libraries. */
const forProgrammers = /\.(?:[cm]?ts|tsx|map|mdx?|a)$/i;
const testFolder = /^(?:tests?|__tests__)$/;
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
  removeDebugInformation(path.join(modules, "node", "bin", "node"));
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

/**
 * Removes debug information and symbols from a program of 64-bit Linux: what is behind its last segment is never loaded.
 * Leaves other files as they are.
 */
function removeDebugInformation(file) {
  const program = fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0);
  // ELF with 64 bits, little-endian, as elf(5) describes it.
  if (program.subarray(0, 6).toString("latin1") !== "\x7fELF\x02\x01") return;
  const [headers, size, count] = [
    Number(program.readBigUInt64LE(32)),
    program.readUInt16LE(54),
    program.readUInt16LE(56),
  ];
  let end = headers + size * count;
  for (let at = headers; at < headers + size * count; at += size) {
    const [offset, bytes] = [program.readBigUInt64LE(at + 8), program.readBigUInt64LE(at + 32)];
    end = Math.max(end, Number(offset + bytes));
  }
  // The table of sections, which only debuggers read, is removed too: no offset, no entries, no names.
  program.writeBigUInt64LE(0n, 40);
  program.fill(0, 60, 64);
  // In place of the file, which may be running, and only if it runs.
  const pruned = `${file}.pruned`;
  fs.writeFileSync(pruned, program.subarray(0, end), { mode: fs.statSync(file).mode });
  if (spawnSync(pruned, ["--version"]).status === 0) fs.renameSync(pruned, file);
  else fs.rmSync(pruned);
}

function removeFiles(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name);
    // Not a package of this name.
    if (entry.isDirectory() && testFolder.test(entry.name) && !fs.existsSync(path.join(full, "package.json")))
      fs.rmSync(full, { recursive: true });
    else if (entry.isDirectory()) removeFiles(full);
    else if (entry.isFile() && forProgrammers.test(entry.name) && !license.test(entry.name)) fs.rmSync(full);
  }
}

module.exports = { prune };
