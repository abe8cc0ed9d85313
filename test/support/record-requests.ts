import { subscribe } from "node:diagnostics_channel";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ClientRequest, IncomingMessage } from "node:http";
import { join } from "node:path";
import { browserMs, processorMs } from "./processor-time.ts";

/** Folder for the requests of test processes; set by test/run.ts. */
export const requestsVariable = "TEST_REQUESTS";

/** What a test file sent and took. */
export interface SentRequests {
  /** Path of the test file. */
  readonly file: string;
  /** `METHOD /path` of each request that got a 2xx or 3xx response, once. */
  readonly requests: readonly string[];
  readonly elapsedMs: number;
  /** Processor time of the process, of the programs it ran and waited for, and of its browsers. */
  readonly cpuMs: number;
}

/** The files that this process has run before the current one. */
const finished: SentRequests[] = [];
let current = { file: process.argv[1] ?? "", startedAt: 0, cpuBefore: 0 };
const requests = new Set<string>();

/** Contains the path of the test file that a group runs, for the case that its process is killed. */
export const runningFile = (group: string): string => `${group}.running`;

/** The test file that this process runs at the moment. */
export const currentFile = (): string => current.file;

/** Counts what follows for this test file, in a process that runs several. */
export function countFor(file: string): void {
  if (current.file === process.argv[1]) current.file = file;
  else {
    finish();
    current = { file, startedAt: performance.now(), cpuBefore: cpuMs() };
  }
}

const cpuMs = (): number => processorMs() + browserMs();

function finish(): void {
  const { file, startedAt, cpuBefore } = current;
  const elapsedMs = performance.now() - startedAt;
  finished.push({ file, requests: [...requests], elapsedMs, cpuMs: cpuMs() - cpuBefore });
  requests.clear();
}

/**
 * Loaded before each test file: notes the requests that the process sends, by fetch or node:http, and that succeed, so that
 * it is known which operations tests really call.
 */
const folder = process.env[requestsVariable];
if (folder !== undefined) {
  const note = (method: string, path: string, status: number | undefined): void => {
    if (status === undefined || status < 200 || status > 399) return;
    const [pathname = ""] = path.split("?");
    requests.add(`${method} ${pathname}`);
  };
  subscribe("undici:request:headers", (message) => {
    const { request, response } = message as {
      request: { method: string; path: string };
      response: { statusCode: number };
    };
    note(request.method, request.path, response.statusCode);
  });
  subscribe("http.client.response.finish", (message) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    note(request.method, request.path, response.statusCode);
  });
  process.on("exit", () => {
    mkdirSync(folder, { recursive: true });
    finish();
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(finished));
  });
}

/** What the test files of a run sent and took. */
export function readSentRequests(folder: string): SentRequests[] {
  return globSync("*.json", { cwd: folder }).flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as SentRequests[],
  );
}
