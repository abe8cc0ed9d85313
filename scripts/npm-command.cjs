"use strict";
const fs = require("node:fs");
const path = require("node:path");

/**
 * How to run npm from a process that npm itself may have started.
 *
 * @param {string} root our checkout
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {{ command: string, prefix: string[] }}
 */
function npmCommand(root, env = process.env) {
  const cli = npmCli(env.npm_execpath);
  const node = nodeOutside(root, env);
  return cli && node ? { command: node, prefix: [cli] } : { command: "npm", prefix: [] };
}

/** yarn and pnpm set npm_execpath too, to themselves; npx sets its own file, with npm's beside it. */
function npmCli(execpath) {
  if (!execpath) return undefined;
  const cli = path.join(path.dirname(execpath), "npm-cli.js");
  return /^np[mx]-cli\.js$/.test(path.basename(execpath)) && fs.existsSync(cli) ? cli : undefined;
}

/**
 * A Node that `npm ci` does not delete while it runs: within an npm script, `node` is the one in our own
 * node_modules. npm_node_execpath is the one that runs the outer npm.
 */
function nodeOutside(root, env) {
  const modules = `${path.join(root, "node_modules")}${path.sep}`;
  const onPath = (env.PATH ?? "").split(path.delimiter).map((folder) => path.join(folder, "node"));
  const candidates = [process.execPath, env.npm_node_execpath, ...onPath];
  for (const candidate of candidates) {
    try {
      fs.accessSync(candidate, fs.constants.X_OK);
      if (!fs.realpathSync(candidate).startsWith(modules)) return candidate;
    } catch {
      // Not there: the next one.
    }
  }
  return undefined;
}

module.exports = { npmCommand };
