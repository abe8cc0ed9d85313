import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkEvidence } from "./shape/evidence.ts";
import { noChromium } from "./support/chromium.ts";
import { globalSetup, globalTeardown } from "./support/global-setup.ts";
import { readProcesses, requestsVariable, type SentRequests } from "./support/record-requests.ts";

/**
 * Runs the tests: all of them, or the files and folders named on the command line. One PostgreSQL serves the whole
 * run (see support/global-setup.ts); each test file works on databases of its own.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Only tests whose title contains this text. */
    grep: { type: "string" },
    /** Runs the files again whenever they or what they import change. */
    watch: { type: "boolean", default: false },
  },
});
/** Folders with the longest files come first: a long one that begins last would run alone in the end. */
const folders = ["test", "bench", "cli", "demo", "server", "contract", "scripts"];
const files = withTitle(
  (positionals.length > 0 ? positionals : folders).flatMap((name) =>
    globSync(name.endsWith(".test.ts") ? name : `${name}/**/*.test.ts`, {
      cwd: root,
      exclude: ["**/node_modules/**"],
    })
      .sort()
      .map((file) => join(root, file)),
  ),
);
const runnable = noChromium === false ? files : withoutBrowserTests(files);
if (files.length === 0) {
  console.error(`no test matches ${positionals.join(" ")}`);
  process.exit(1);
}
// What the person running the tests has set must not reach the servers under test.
for (const name of Object.keys(process.env)) if (name.startsWith("PARLEY_")) delete process.env[name];
// Hundreds of processes load the same files: they are compiled once.
process.env.NODE_COMPILE_CACHE = join(root, "node_modules", ".cache", "compiled");
const requests = mkdtempSync(join(tmpdir(), "parley-requests-"));
process.env[requestsVariable] = requests;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
// Until the tests have said otherwise.
process.exitCode = 1;
try {
  await globalSetup(runnable);
  const events = run({
    files: runnable,
    cwd: root,
    watch: options.watch,
    execArgv: ["--import", join(root, "test", "support", "record-requests.ts")],
    // One more than there are cores, since many of them wait for something most of the time.
    concurrency: availableParallelism() + 1,
    // The pictures of the guide show whole meetings, which are filmed first.
    timeout: process.env.UPDATE_DOCS === undefined ? 600_000 : 900_000,
    signal: stop.signal,
    ...(options.grep === undefined
      ? {}
      : { testNamePatterns: new RegExp(options.grep.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i") }),
  });
  const durations = new Map<string, number>();
  events.on("test:summary", ({ file, success, duration_ms }) => {
    if (file === undefined && success) process.exitCode = 0;
    if (file !== undefined) durations.set(file, duration_ms);
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
  process.stdout.write(slowest(durations, readProcesses(requests)));
  // A part of a file proves nothing about what the whole file calls.
  const isWhole = options.grep === undefined && !options.watch;
  for (const fault of isWhole ? checkEvidence(requests, runnable) : []) {
    console.error(fault);
    process.exitCode = 1;
  }
} finally {
  await globalTeardown();
  rmSync(requests, { recursive: true, force: true });
}

/** The files that contain the text of --grep, so that the others need not start; all of them where titles are composed. */
function withTitle(all: readonly string[]): string[] {
  const text = options.grep?.toLowerCase();
  if (text === undefined) return [...all];
  const found = all.filter((file) => readFileSync(file, "utf8").toLowerCase().includes(text));
  return found.length > 0 ? found : [...all];
}

/** The files to speed up first, with the processor time of each file and the programs it ran. */
function slowest(durations: ReadonlyMap<string, number>, processes: readonly SentRequests[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6);
  const cpu = new Map(processes.map(({ file, cpuMs }) => [file, cpuMs]));
  const total = processes.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const lines = [...durations]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 15)
    .map(([file, ms]) => `${seconds(ms)} s ${seconds(cpu.get(file) ?? 0)} s  ${relative(root, file)}`);
  return [
    `\nSlowest of ${durations.size} files (elapsed, processor time of ${seconds(total).trim()} s in all)`,
    ...lines,
    "",
  ].join("\n");
}

/** Replaces the browser tests by one skipped test that says why. */
function withoutBrowserTests(all: readonly string[]): string[] {
  const folder = join(root, "test", "browser");
  const others = all.filter((file) => !file.startsWith(folder));
  return others.length === all.length ? others : [...others, join(root, "test", "support", "no-browser.ts")];
}
