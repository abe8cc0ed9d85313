import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readSentRequests } from "../support/record-requests.ts";
import { operationOf, operations } from "./operations.ts";
import { root } from "./sources.ts";

export const coveragePage = join(root, "docs/api-coverage.md");

/** The test file that the page names for each operation, by the operation's `METHOD /path`. */
export function namedTests(page: string): Map<string, string> {
  return new Map(
    [...page.matchAll(/^\| [^|]+ \| `([^`]+)` \|.*\| (\S+) \|$/gm)].map(([, operation, test]) => [
      operation ?? "",
      test ?? "",
    ]),
  );
}

/**
 * Compares docs/api-coverage.md with what the tests of this run sent: each test file that the page names, and that ran, has
 * to have called the operation with success. With UPDATE_DOCS it names a test of this run where the named one has not.
 * @param folder where the test files left what they sent.
 * @param files the test files that ran.
 * @returns what is wrong, one line each.
 */
export function checkEvidence(folder: string, files: readonly string[]): string[] {
  const callers = new Map<string, Set<string>>();
  for (const { file, requests } of readSentRequests(folder)) {
    for (const request of requests) {
      const operation = operationOf(request);
      if (operation === undefined || !files.includes(file)) continue;
      const key = `${operation.method} ${operation.path}`;
      callers.set(key, (callers.get(key) ?? new Set()).add(relative(root, file)));
    }
  }
  const ran = new Set(files.map((file) => relative(root, file)));
  const page = readFileSync(coveragePage, "utf8");
  const named = namedTests(page);
  const faults: string[] = [];
  let updated = page;
  for (const { method, path } of operations) {
    const key = `${method} ${path}`;
    const test = named.get(key) ?? "none";
    const found = callers.get(key);
    if (found?.has(test) || !(ran.has(test) || test === "none")) continue;
    const [other] = [...(found ?? [])].sort();
    if (process.env.UPDATE_DOCS !== undefined && other !== undefined)
      updated = updated
        .split("\n")
        .map((line) => (line.includes(`| \`${key}\` |`) ? line.replace(/\S+ \|$/, `${other} |`) : line))
        .join("\n");
    else if (ran.has(test)) faults.push(`docs/api-coverage.md: ${test} did not call ${key} with success`);
  }
  if (updated !== page) writeFileSync(coveragePage, updated);
  return faults;
}
