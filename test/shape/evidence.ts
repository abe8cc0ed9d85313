import { readSentRequests } from "../support/record-requests.ts";
import { operationOf, operations } from "./operations.ts";

/** They call every operation, but only to see who may. */
const permissionTests = /\/test\/permissions\//;

/**
 * Checks that each operation of the contract was called with success by a test.
 * @param folder where the test files left what they sent.
 * @param files all test files, which ran.
 * @returns what is wrong, one line each.
 */
export function checkEvidence(folder: string, files: readonly string[]): string[] {
  const called = new Set(
    readSentRequests(folder)
      .filter(({ file }) => files.includes(file) && !permissionTests.test(file))
      .flatMap(({ requests }) => requests.map(operationOf)),
  );
  return operations
    .filter((operation) => !called.has(operation))
    .map(({ method, path }) => `no test called ${method} ${path} with success`);
}
