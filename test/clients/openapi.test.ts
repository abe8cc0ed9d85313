import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { pythonClientFiles } from "../../scripts/python-client.ts";
import { openApiDocument } from "../../server/platform/http/reference/openapi.ts";
import { versionedOperations } from "../shape/operations.ts";
import { everyVersion } from "../support/app.ts";

const packages = new URL("../../packages/", import.meta.url);

for (const version of everyVersion) {
  test(`packages/openapi/${version}.json is current`, () => {
    const file = new URL(`openapi/${version}.json`, packages);
    const text = `${JSON.stringify(openApiDocument(version, versionedOperations), null, 2)}\n`;
    if (process.env.UPDATE_DOCS) writeFileSync(file, text);
    assert.equal(readFileSync(file, "utf8"), text, "run UPDATE_DOCS=1 npm test test/clients");
  });
}

test("the TypeScript client is generated from the current document", () => {
  assert.equal(
    readFileSync(new URL("sdk/src/generated/document.txt", packages), "utf8").trim(),
    createHash("sha256")
      .update(readFileSync(new URL("openapi/2026-10-01.json", packages)))
      .digest("hex"),
    "run npm ci && npm run generate in packages/sdk",
  );
});

test("the Python client is generated from the current document", () => {
  const folder = new URL("python/src/parley_sdk/", packages);
  const files = pythonClientFiles(
    readFileSync(new URL("openapi/2026-10-01.json", packages), "utf8"),
    readFileSync(new URL("async_client.py", folder), "utf8"),
  );
  for (const [path, text] of files) {
    const file = new URL(path, folder);
    if (process.env.UPDATE_DOCS) writeFileSync(file, text);
    assert.equal(readFileSync(file, "utf8"), text, "run UPDATE_DOCS=1 npm test test/clients");
  }
});
