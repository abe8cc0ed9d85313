#!/usr/bin/env node
/**
 * The program `parley`. Plain JavaScript for Node 20: it installs what is missing, and hands over to main.ts in
 * this process when Node can run TypeScript, else in the Node that comes with the dependencies.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const LAUNCHED = "PARLEY_LAUNCHER";
const OLDEST_NODE_WITH_TYPES = 24;

if (process.env[LAUNCHED] === "1") {
  followLauncher();
  await import("./main.ts");
} else {
  await install();
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE_WITH_TYPES) await import("./main.ts");
  else launch();
}

async function install() {
  try {
    await createRequire(import.meta.url)("../scripts/install.cjs").ensureInstalled();
  } catch (error) {
    process.stderr.write(`parley: ${error.message}\n`);
    process.exit(1);
  }
}

/** Runs this file again under the newer Node, and is its shadow: same signals in, same end out. */
function launch() {
  const node = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // Names are looked up on these threads: a few that never answer must not keep files waiting.
    env: { UV_THREADPOOL_SIZE: "16", ...process.env, [LAUNCHED]: "1" },
  });
  const handlers = new Map();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // Ctrl-C in a terminal reaches the child as well as us: sent on, it would arrive twice.
    const handler = () => (signal === "SIGINT" && process.stdin.isTTY) || child.kill(signal);
    handlers.set(signal, handler);
    process.on(signal, handler);
  }
  child.once("error", (error) => {
    process.stderr.write(`parley: ${node} does not run: ${error.message}\n`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    // Ended by a signal: end by it too, so that a shell sees the same.
    for (const [name, handler] of handlers) process.off(name, handler);
    process.kill(process.pid, signal);
  });
}

/** The launcher may be killed by SIGKILL, which it cannot pass on; the closed channel tells. */
function followLauncher() {
  // Programs that main.ts starts are not launched by us.
  delete process.env[LAUNCHED];
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // A command that is done must end although the launcher still listens.
  process.channel?.unref();
}
