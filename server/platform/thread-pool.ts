import { fstat } from "node:fs";

/** How long an operation may stay unnoticed. */
const intervalMs = 1000;

/**
 * Gives the threads that read and write files, look up host names and hash something to do each second. When work is added,
 * they may all stay asleep: an error of condition variables in the C library before glibc 2.41, as in Debian 12
 * (https://sourceware.org/bugzilla/show_bug.cgi?id=25847), and a similar one on macOS. The operation then waits until the
 * next one is added, in a command forever. Doesn't keep the process running.
 */
export function keepThreadPoolAwake(): void {
  // What it says of standard input doesn't matter, nor whether there is one.
  setInterval(() => fstat(0, () => undefined), intervalMs).unref();
}
