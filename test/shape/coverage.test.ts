import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { errorCatalogue } from "../../contract/errors.ts";
import { isOpen, versionNames } from "../../contract/versions.ts";
import { startTestApp } from "../support/app.ts";
import { operationOf, operations } from "./operations.ts";
import { root } from "./sources.ts";

const app = await startTestApp({ worker: false });

test("coverage: each operation of the contract is served in exactly the versions that have it", async () => {
  // The documents have the management API too.
  const ids = new Set(operations.map(({ id }) => id));
  const served: string[] = [];
  for (const version of versionNames) {
    const document = (await (await fetch(`${app.url}/openapi/${version}.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const methods of Object.values(document.paths))
      for (const { operationId } of Object.values(methods))
        if (ids.has(operationId)) served.push(`${operationId} ${version}`);
  }
  const wanted = versionNames.flatMap((version) =>
    operations.filter(({ gate }) => isOpen(gate, version)).map(({ id }) => `${id} ${version}`),
  );
  assert.deepEqual(served.sort(), wanted.sort());
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
