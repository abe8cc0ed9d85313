import { subscribe } from "node:diagnostics_channel";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ClientRequest, IncomingMessage } from "node:http";
import { join } from "node:path";

/** Folder for the requests of test processes; set by test/run.ts. */
export const requestsVariable = "TEST_REQUESTS";

/** The requests of one process. */
export interface SentRequests {
  /** Path of the test file. */
  readonly file: string;
  /** `METHOD /path` of each request that got a 2xx or 3xx response, once. */
  readonly requests: readonly string[];
  /** Processor time of the process and of the programs it ran and waited for. */
  readonly cpuMs: number;
}

/**
 * Loaded before each test file: notes the requests that the process sends, by fetch or node:http, and that succeed, so that
 * docs/api-coverage.md names tests that really call an operation.
 */
const folder = process.env[requestsVariable];
if (folder !== undefined) {
  const requests = new Set<string>();
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
    const sent: SentRequests = { file: process.argv[1] ?? "", requests: [...requests], cpuMs: cpuMs() };
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(sent));
  });
}

/** proc(5): after the name in brackets, fields 14 to 17 are utime, stime, cutime and cstime in hundredths of a second. */
function cpuMs(): number {
  if (process.platform !== "linux") return process.cpuUsage().user / 1000;
  const text = readFileSync("/proc/self/stat", "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** What the test processes of a run left. */
export function readProcesses(folder: string): SentRequests[] {
  return readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as SentRequests,
  );
}
