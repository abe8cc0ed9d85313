import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

/**
 * Runs the tests: all of them, or the files and folders named on the command line. One PostgreSQL serves the whole
 * run (see support/global-setup.ts); each test file works on databases of its own.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv.slice(2);
const patterns = (wanted.length > 0 ? wanted : ["contract", "server", "cli", "test"]).flatMap((name) =>
  name.endsWith(".test.ts") ? [name] : [`${name}/**/*.test.ts`],
);
const files = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**"] }).sort();
if (files.length === 0) {
  console.error(`no test matches ${wanted.join(" ")}`);
  process.exit(1);
}
const child = spawn(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${availableParallelism()}`,
    // The pictures of the guide show whole meetings, which are filmed first.
    `--test-timeout=${process.env.UPDATE_DOCS === undefined ? 300_000 : 900_000}`,
    "--test-global-setup=test/support/global-setup.ts",
    ...files,
  ],
  // What the person running the tests has set must not reach the servers under test.
  { cwd: root, stdio: "inherit", env: withoutSettings(process.env) },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));

function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PARLEY_")));
}
