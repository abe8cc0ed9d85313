import { isMainThread } from "node:worker_threads";
import { keepThreadPoolAwake } from "../../server/platform/thread-pool.ts";
import { isFullRun } from "./full.ts";
import { currentFile } from "./record-requests.ts";

/** How many minutes a test file may run, instead of the default. */
export const limitVariable = "TEST_MAX_MINUTES";

/** Several times what the longest file takes on an idle machine; recordings and imports in their full size take longer. */
const maxMinutes = Number(process.env[limitVariable] ?? (isFullRun ? 90 : 12));

/** What the file printed last, of so many characters. */
const keptCharacters = 2000;
let lastOutput = "";
let timer: NodeJS.Timeout | undefined;

/** Gives the test file that begins now its whole time, in a process that runs several. */
export function restartTimeLimit(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const open = [...new Set(process.getActiveResourcesInfo())].join(", ");
    const printed = lastOutput === "" ? "" : `; it printed last:\n${lastOutput}`;
    console.error(`${currentFile()} still runs after ${maxMinutes} minutes, kept open by: ${open}${printed}`);
    process.exit(1);
  }, maxMinutes * 60_000).unref();
}

/**
 * Loaded before each test file: ends the process after a time. The test runner waits indefinitely for one that a failed test
 * left with an open connection or server.
 */
if (isMainThread) {
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (chunk: string | Uint8Array, ...rest: never[]) => {
    lastOutput = (lastOutput + String(chunk)).slice(-keptCharacters);
    return write(chunk, ...rest);
  };
  restartTimeLimit();
  keepThreadPoolAwake();
}
