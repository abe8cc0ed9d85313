import { isMainThread } from "node:worker_threads";
import { isFullRun } from "./full.ts";
import { currentFile } from "./record-requests.ts";

/** How many minutes a process of tests may run, instead of the default. */
export const limitVariable = "TEST_MAX_MINUTES";

/** Enough for a group of files on a slow machine, and for recordings and imports in their full size. */
const maxMinutes = Number(process.env[limitVariable] ?? (isFullRun ? 90 : 20));

/**
 * Loaded before each test file: ends the process after a time. The test runner waits indefinitely for one that a failed test
 * left with an open connection or server.
 */
if (isMainThread)
  setTimeout(() => {
    const open = [...new Set(process.getActiveResourcesInfo())].join(", ");
    console.error(`${currentFile()} still runs after ${maxMinutes} minutes, kept open by: ${open}`);
    process.exit(1);
  }, maxMinutes * 60_000).unref();
