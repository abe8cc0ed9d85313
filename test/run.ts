import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { keepThreadPoolAwake } from "../server/platform/thread-pool.ts";
import { checkEvidence } from "./shape/evidence.ts";
import { noChromium } from "./support/chromium.ts";
import { isFullRun } from "./support/full.ts";
import { globalSetup, globalTeardown, postgresMs } from "./support/global-setup.ts";
import { makeQuickFolder } from "./support/quick-folder.ts";
import {
  readSentRequests,
  requestsVariable,
  runningFile,
  type SentRequests,
} from "./support/record-requests.ts";

/**
 * Runs the tests: those of every part, with `--all` also those of whole installations and most of the web app, in a full run
 * also those of {@link onlyInFull}, or the files and folders named on the command line. One PostgreSQL serves the whole run
 * (see support/global-setup.ts); each test file works on databases of its own.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Only tests whose title contains this text. */
    grep: { type: "string" },
    /** Also the tests of whole installations. */
    all: { type: "boolean", default: false },
    /** Runs a few files that failed once more, alone, and names them as unstable if they pass. */
    retry: { type: "boolean", default: false },
    /** Runs the files again whenever they or what they import change. */
    watch: { type: "boolean", default: false },
    /** How many files to name, with the longest first. */
    slowest: { type: "string", default: "15" },
  },
});
const folders = ["test", "bench", "cli", "demo", "server", "contract", "shared", "scripts"];
/**
 * Only with --all or by name: tests of whole installations (several processes, kills, upgrades, moves, backups), most of
 * the web app's in a browser, of commands beside a running server, those that start PostgreSQL or other processes again
 * and again or need an S3 server, and sweeps. They take longer than all others together.
 */
const onlyWithAll = [
  "test/acceptance/",
  "test/install/",
  "test/browser/",
  "demo/",
  "cli/",
  "server/platform/db/embedded/",
  "server/processing/media/render/damaged.test.ts",
  "server/processing/intelligence/local/",
  "server/processing/transcription/local/",
  "server/platform/storage/s3/s3.test.ts",
  "server/connections/imports/bucket.test.ts",
  "server/governance/retention/erasure/bucket.test.ts",
  "server/operations/system/doctor/bucket.test.ts",
  "server/processing/uploads/transfer/bucket.test.ts",
  // Sweeps: every hostile file, byte or day. Others test one of each kind.
  "test/hostile/",
  "test/clients/generated.test.ts",
  "test/clients/typescript.test.ts",
  "server/growth.test.ts",
  "server/connections/imports/any-file.test.ts",
  "server/connections/imports/hostile.test.ts",
  "server/operations/backup/check.test.ts",
  "server/people/oauth/token/replay.test.ts",
  "server/processing/media/validate/bombs.test.ts",
  "server/processing/transcription/noise.test.ts",
  "server/recordings/recordings/transcript/event-loop.test.ts",
  "server/recordings/recordings/transcript/long-transcripts.test.ts",
];
/**
 * Only in a full run, each night and before a release, or by name: what takes long for what it finds. That is the bench and
 * the development server, which users don't run; the jobs of the guide, and the move of a database, whose parts have tests
 * of their own; the rotation of the secret, commands of root and the demo, which seldom change; what needs programs whose
 * installation takes as long as the tests; and sweeps and long recordings of which others test a part.
 */
const onlyInFull = [
  "bench/",
  "demo/demo.test.ts",
  "server/processing/ask/questions.test.ts",
  "server/processing/media/any-format.test.ts",
  "server/processing/media/validate/mutations.test.ts",
  "test/acceptance/commands-as-root.test.ts",
  "test/acceptance/fuzz.test.ts",
  "test/acceptance/move-database.test.ts",
  "test/acceptance/secret-rotation.test.ts",
  "test/browser/guide.test.ts",
  "test/browser/other-browsers.test.ts",
  "test/browser/record-lasting.test.ts",
  "test/clients/n8n.test.ts",
  "test/clients/python.test.ts",
  "test/clients/python-types.test.ts",
  "test/hostile/bodies.test.ts",
  "test/install/dev.test.ts",
];
/** Of those with --all, the ones that run each time: every page with its accessibility, and the most used parts and commands. */
const inEachRun = [
  ...["app", "clips", "pages", "recording"].map((name) => `test/browser/${name}.test.ts`),
  "cli/cli.test.ts",
];
/** Folders whose files share processes, and how many share one. */
const groupSizes = { "test/browser": 10, "test/shape": 10, server: 20, shared: 20 } as const;
/** Files that take longest, in this order: one that began last would run alone in the end. */
const longest = [
  "test/acceptance/backup.test.ts",
  "bench/bench.test.ts",
  "test/browser/other-browsers.test.ts",
  "test/permissions/permissions.test.ts",
  "test/acceptance/move-storage.test.ts",
  "test/acceptance/scheduled-backup.test.ts",
  "test/acceptance/commands-as-root.test.ts",
  "test/acceptance/embedded-commands.test.ts",
  "test/acceptance/move-database.test.ts",
  "test/hostile/bodies.test.ts",
  "server/platform/storage/s3/s3.test.ts",
  "cli/upload/upload.test.ts",
];
const files = withTitle(
  (positionals.length > 0 ? positionals : folders)
    .flatMap((name) =>
      globSync(name.endsWith(".test.ts") ? name : `${name}/**/*.test.ts`, {
        cwd: root,
        exclude: ["**/node_modules/**"],
      }).sort(),
    )
    .filter((file) => isRequested(file))
    .map((file) => join(root, file)),
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
// Temporary files of all tests, which are removed with it.
const temporary = makeQuickFolder("parley");
// As of a system's own folder, which tests with other users expect.
chmodSync(temporary, 0o1777);
process.env.TMPDIR = temporary;
const requests = mkdtempSync(join(tmpdir(), "requests-"));
process.env[requestsVariable] = requests;
keepThreadPoolAwake();
takeTurns();

/** Groups of files whose processes have ended before their tests. */
const ends: string[] = [];

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort());
// Until the tests have said otherwise.
process.exitCode = 1;
try {
  await globalSetup(runnable);
  const failed = await runFiles(
    options.grep === undefined && !options.watch ? grouped(runnable) : runnable,
    // More than there are cores, since many of them wait for something most of the time.
    availableParallelism() + 3,
  );
  const unstable = failed.size > 0 ? await retry(failed) : [];
  if (failed.size === unstable.length) process.exitCode = 0;
  // Not the programs that tests fork, which count with their test.
  process.stdout.write(slowest(readSentRequests(requests).filter(({ file }) => runnable.includes(file))));
  // A part of the tests proves nothing about what all of them call.
  const isWhole = options.grep === undefined && !options.watch && positionals.length === 0;
  for (const fault of isWhole ? checkEvidence(requests, runnable) : []) {
    console.error(fault);
    process.exitCode = 1;
  }
  for (const end of ends) console.error(end);
  for (const file of unstable) console.error(`unstable: ${file} failed among others and passed alone`);
} finally {
  await globalTeardown();
  rmSync(temporary, { recursive: true, force: true });
}

/**
 * Runs files and prints what they report.
 * @returns the files of tests that failed, by path relative to the root.
 */
async function runFiles(files: readonly string[], concurrency: number): Promise<Set<string>> {
  const failed = new Set<string>();
  const events = run({
    files,
    cwd: root,
    watch: options.watch,
    execArgv: ["async-context.ts", "module-loading.ts", "record-requests.ts", "time-limit.ts"].flatMap(
      (name) => ["--import", join(root, "test", "support", name)],
    ),
    concurrency,
    timeout: timeoutMs(),
    signal: stop.signal,
    ...(options.grep === undefined
      ? {}
      : { testNamePatterns: new RegExp(options.grep.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i") }),
  });
  events.on("test:fail", ({ file, name, details, todo }) => {
    // A test is named by the file that defines it, which may be one that several share.
    if (todo !== undefined || failureType(details.error) === "subtestsFailed") return;
    failed.add(relative(root, file ?? name));
    if (existsSync(runningFile(name))) ends.push(describeEnd(name, details.error));
  });
  let succeeded = false;
  events.on("test:summary", ({ file, success }) => {
    if (file === undefined) succeeded = success;
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
  if (!succeeded && failed.size === 0) failed.add("unknown");
  return failed;
}

/** Which file of a group ran when the process of the group ended, and what ended it: SIGKILL is often a lack of memory. */
function describeEnd(group: string, error: Error): string {
  const by = "signal" in error && error.signal !== null ? ` by ${String(error.signal)}` : "";
  return `ended${by} while it ran: ${readFileSync(runningFile(group), "utf8")}`;
}

function failureType(error: Error): unknown {
  return "failureType" in error && error.failureType;
}

/**
 * With --retry, runs files that failed once more, one after the other: among 3,500 tests on a busy machine, one may miss a
 * time limit. More than a few files, or a failure outside of any file, is no such case.
 * @returns these files if all of them pass alone; else none.
 */
async function retry(failed: ReadonlySet<string>): Promise<string[]> {
  const files = runnable.filter((file) => failed.has(relative(root, file)));
  if (!options.retry || files.length < failed.size || failed.size > 3 || stop.signal.aborted) return [];
  process.stdout.write(`\nRunning again alone: ${[...failed].join(", ")}\n`);
  const again = await runFiles(files, 1);
  return again.size === 0 ? [...failed] : [];
}

/**
 * Has Linux let each process work until it waits or its turn is over, also those started later, instead of interrupting it
 * for every other that wakes up: the tests then take 2 to 6 % less processor time. Without the program, nothing changes.
 */
function takeTurns(): void {
  spawnSync("chrt", ["--all-tasks", "--batch", "--pid", "0", String(process.pid)]);
}

/** Whether a file is to run: those that take long only with --all or in a full run, or where files or a title are named. */
function isRequested(file: string): boolean {
  if (positionals.length > 0 || options.grep !== undefined) return true;
  const isOneOf = (names: readonly string[]): boolean => names.some((name) => file.startsWith(name));
  if (options.all) return isFullRun || !isOneOf(onlyInFull);
  return inEachRun.includes(file) || !isOneOf([...onlyWithAll, ...onlyInFull]);
}

/** How long a test may take; support/time-limit.ts ends a process that takes longer in all. */
function timeoutMs(): number {
  // Recordings and imports in their full size.
  if (isFullRun) return 5_400_000;
  // A group of files on a slow machine, and the pictures of the guide, which show whole meetings.
  return 900_000;
}

/** The files that contain the text of --grep, so that the others need not start; all of them where titles are composed. */
function withTitle(all: readonly string[]): string[] {
  const text = options.grep?.toLowerCase();
  if (text === undefined) return [...all];
  const found = all.filter((file) => readFileSync(file, "utf8").toLowerCase().includes(text));
  return found.length > 0 ? found : [...all];
}

/**
 * Replaces the files that can share a process by files that run several of them, because loading the server takes
 * longer than most of the tests. A file that changes or measures its process says why it runs alone.
 */
function grouped(all: readonly string[]): string[] {
  const alone: string[] = [];
  const names = Object.keys(groupSizes) as (keyof typeof groupSizes)[];
  const groups = new Map<(typeof names)[number], string[]>();
  for (const file of all) {
    const folder = names.find((name) => file.startsWith(join(root, name, "/")));
    const text = readFileSync(file, "utf8");
    if (folder === undefined || /^\/\/ Runs alone: /m.test(text)) alone.push(file);
    else groups.set(folder, [...(groups.get(folder) ?? []), file]);
  }
  const support = pathToFileURL(join(root, "test", "support", "run-group.ts"));
  const entries = [...groups].flatMap(([folder, files]) => {
    const count = Math.ceil(files.length / groupSizes[folder]);
    // Neighbours take equally long, so each group gets one of them.
    return Array.from({ length: count }, (_, group) => {
      const own = files.filter((_, index) => index % count === group);
      if (own[0] !== undefined && own.length === 1) return own[0];
      const entry = join(requests, `${folder.replace("/", "-")}-${group}.mjs`);
      writeFileSync(entry, `import { runGroup } from "${support}";\nrunGroup(${JSON.stringify(own)});\n`);
      return entry;
    });
  });
  const first = longest.map((name) => join(root, name)).filter((file) => alone.includes(file));
  const rest = alone.filter((file) => !first.includes(file));
  // Groups compute and most other files wait, so they start in turn. Files come last, since each ends sooner than a group.
  const mixed = entries.flatMap((entry, index) => [entry, ...rest.slice(2 * index, 2 * index + 2)]);
  return [...first, ...mixed, ...rest.slice(2 * entries.length)];
}

/** The files to speed up first, with the processor time of each file and the programs it ran. */
function slowest(files: readonly SentRequests[]): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(6);
  const total = files.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const lines = files
    .toSorted((a, b) => b.elapsedMs - a.elapsedMs)
    .slice(0, Number(options.slowest))
    .map(
      ({ file, elapsedMs, cpuMs }) => `${seconds(elapsedMs)} s ${seconds(cpuMs)} s  ${relative(root, file)}`,
    );
  return [
    `\nSlowest of ${files.length} files (elapsed, processor time of ${seconds(total).trim()} s in all, and of PostgreSQL ${seconds(postgresMs()).trim()} s)`,
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
