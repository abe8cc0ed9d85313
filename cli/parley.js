#!/usr/bin/env node
/**
 * The `parley` program. Plain JavaScript for Node 20: it installs missing dependencies and runs main.ts, in this process
 * if this Node supports TypeScript, else in the Node from the dependencies.
 */
import { spawn } from "node:child_process";
import * as nodeModule from "node:module";
import { fileURLToPath } from "node:url";

// Before TypeScript loads, which would otherwise be stripped of its types each time; Node 20 has no such cache.
nodeModule.enableCompileCache?.();

const LAUNCHED = "PARLEY_LAUNCHER";
const OLDEST_NODE_WITH_TYPES = 24;

if (process.env[LAUNCHED] === "1") {
  followLauncher();
  await import("./main.ts");
} else {
  nodeModule
    .createRequire(import.meta.url)("../scripts/install.cjs")
    .ensureInstalled();
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE_WITH_TYPES) await import("./main.ts");
  else launch();
}

/** Runs this file under the newer Node, forwards signals to it and exits as it does. */
function launch() {
  const node = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    // DNS lookups share these threads with file access; a few lookups that hang must not block files.
    env: { UV_THREADPOOL_SIZE: "16", ...process.env, [LAUNCHED]: "1" },
  });
  const handlers = new Map();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // Ctrl-C in a terminal reaches the child directly; forwarded, it would arrive twice.
    const handler = () => (signal === "SIGINT" && process.stdin.isTTY) || child.kill(signal);
    handlers.set(signal, handler);
    process.on(signal, handler);
  }
  child.once("error", (error) => {
    process.stderr.write(`parley: can't run ${node}: ${error.message}\n`);
    process.exit(1);
  });
  child.once("exit", (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    // Exit by the same signal, so that the shell sees it.
    for (const [name, handler] of handlers) process.off(name, handler);
    process.kill(process.pid, signal);
  });
}

/** Detects by the closed channel that the launcher was killed with SIGKILL, which it can't forward. */
function followLauncher() {
  // Programs that main.ts starts must not inherit this.
  delete process.env[LAUNCHED];
  process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
  // A finished command must exit although the channel is still open.
  process.channel?.unref();
}
