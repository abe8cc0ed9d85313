"use strict";
/** Where the built web app is. Plain CommonJS, because the installation asks before there are any packages. */
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

/**
 * @param {string} root our checkout
 * @returns {string} the folder of the web app built from the current sources, whether it exists or not
 */
function webFolder(root) {
  return path.join(root, "web", "dist", fingerprint(root));
}

/** A hash that changes when any source of the app changes. */
function fingerprint(root) {
  const imported = ["contract", "shared"]
    .flatMap((folder) => filesIn(path.join(root, folder)))
    .filter((file) => file.endsWith(".ts"));
  const web = filesIn(path.join(root, "web"), path.join(root, "web", "dist"));
  const hash = createHash("sha256");
  for (const file of [...imported, ...web, path.join(root, "package-lock.json")].sort())
    hash.update(path.relative(root, file)).update("\0").update(fs.readFileSync(file)).update("\0");
  return hash.digest("hex").slice(0, 16);
}

function filesIn(folder, excluded) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (full === excluded || entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return filesIn(full);
    return entry.isFile() ? [full] : [];
  });
}

module.exports = { webFolder };
