import { globSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { globalSetup, globalTeardown } from "./support/global-setup.ts";

/**
 * Runs the tests: all of them, or the files and folders named on the command line. One PostgreSQL serves the whole
 * run (see support/global-setup.ts); each test file works on databases of its own.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const wanted = process.argv.slice(2);
/** Those with the longest files come first: a long one that begins last would run alone in the end. */
const folders = ["test", "cli", "server", "contract"];
const files = (wanted.length > 0 ? wanted : folders).flatMap((name) =>
  globSync(name.endsWith(".test.ts") ? name : `${name}/**/*.test.ts`, {
    cwd: root,
    exclude: ["**/node_modules/**"],
  })
    .sort()
    .map((file) => join(root, file)),
);
if (files.length === 0) {
  console.error(`no test matches ${wanted.join(" ")}`);
  process.exit(1);
}
// What the person running the tests has set must not reach the servers under test.
for (const name of Object.keys(process.env)) if (name.startsWith("PARLEY_")) delete process.env[name];
// Hundreds of processes load the same files: they are compiled once.
const compiled = mkdtempSync(join(tmpdir(), "parley-compiled-"));
process.env.NODE_COMPILE_CACHE = compiled;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
// Until the tests have said otherwise.
process.exitCode = 1;
try {
  await globalSetup();
  const events = run({
    files,
    cwd: root,
    // One more than there are cores, since many of them wait for something most of the time.
    concurrency: availableParallelism() + 1,
    // The pictures of the guide show whole meetings, which are filmed first.
    timeout: process.env.UPDATE_DOCS === undefined ? 600_000 : 900_000,
    signal: stop.signal,
  });
  events.on("test:summary", ({ file, success }) => {
    if (file === undefined && success) process.exitCode = 0;
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
} finally {
  await globalTeardown();
  rmSync(compiled, { recursive: true, force: true });
}
