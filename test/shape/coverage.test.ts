import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { errorCatalogue } from "../../contract/errors.ts";
import { isOpen, versionNames } from "../../contract/versions.ts";
import { startTestApp } from "../support/app.ts";
import { coveragePage, namedTests } from "./evidence.ts";
import { operationOf, operations } from "./operations.ts";
import { root } from "./sources.ts";

const app = await startTestApp({ worker: false });

/** The coverage page: each operation of the contract, where it is served, and the test named on the page so far. */
async function coverage(named: ReadonlyMap<string, string>): Promise<string> {
  const served = new Set<string>();
  for (const version of versionNames) {
    const document = (await (await fetch(`${app.url}/openapi/${version}.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const methods of Object.values(document.paths))
      for (const { operationId } of Object.values(methods)) served.add(`${operationId} ${version}`);
  }
  const rows = operations.map((operation) => {
    const versions = versionNames.map((version) =>
      !isOpen(operation.gate, version)
        ? "not in it"
        : served.has(`${operation.id} ${version}`)
          ? "served"
          : "not yet",
    );
    const key = `${operation.method} ${operation.path}`;
    return `| ${operation.summary} | \`${key}\` | ${versions.join(" | ")} | ${named.get(key) ?? "none"} |`;
  });
  return [
    "# Coverage of the contract",
    "",
    "Each operation of the contract with a test that calls it. `npm test` records the requests that tests send, and fails if the named test did not send a successful request with this method and path. `UPDATE_DOCS=1 npm test` writes the page.",
    "",
    `| Operation | Method and path | ${versionNames.join(" | ")} | Test |`,
    `| --- | --- | ${versionNames.map(() => "---").join(" | ")} | --- |`,
    ...rows,
    "",
  ].join("\n");
}

test("coverage: docs/api-coverage.md lists what is served, and names an existing test for each operation", async () => {
  const before = readFileSync(coveragePage, "utf8");
  const page = await coverage(namedTests(before));
  if (process.env.UPDATE_DOCS) writeFileSync(coveragePage, page);
  assert.equal(readFileSync(coveragePage, "utf8"), page, "run UPDATE_DOCS=1 npm test test/shape");
  for (const [operation, name] of namedTests(page))
    assert.ok(name.endsWith(".test.ts") && existsSync(join(root, name)), `${operation}: ${name}`);
});

test("coverage: a request counts for the operation whose path is spelled out, then for one with parameters", () => {
  const prefix = "/_/public-api/v2";
  assert.equal(operationOf(`POST ${prefix}/uploads/create`)?.summary, "Create Upload");
  assert.equal(operationOf(`POST ${prefix}/uploads/7`)?.summary, "Get Upload");
  assert.equal(operationOf(`POST ${prefix}/uploads/`), undefined);
  assert.equal(operationOf(`DELETE ${prefix}/uploads/create`), undefined);
});

test("errors: docs/errors.md lists the catalogue, code by code", () => {
  const text = readFileSync(join(root, "docs/errors.md"), "utf8");
  const listed = [...text.matchAll(/^\| `(\w+)` \| (\d+) \| (.+) \|$/gm)].map(([, code, status, title]) => [
    code,
    Number(status),
    title,
  ]);
  assert.deepEqual(
    listed,
    Object.entries(errorCatalogue).map(([code, { status, title }]) => [code, status, title]),
  );
});
