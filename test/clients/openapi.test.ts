import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { hookTypesIn } from "../../contract/webhooks/hook-types.ts";
import { pythonClientFiles } from "../../scripts/python-client.ts";
import { exposedHeaders } from "../../server/people/oauth/cors.ts";
import { openApiDocument } from "../../server/platform/http/reference/openapi.ts";
import { versionedOperations } from "../shape/operations.ts";
import { everyVersion } from "../support/call.ts";
import { assertDescribed, assertWebhookDescribed } from "../support/openapi.ts";

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

test("the n8n node offers the hook types of the current version", () => {
  const file = new URL("n8n-node/src/nodes/hook-types.ts", packages);
  const names = hookTypesIn("2026-10-01").toSorted();
  const list = names.map((name) => `  "${name}",\n`).join("");
  const text = `// Generated: UPDATE_DOCS=1 npm test test/clients.\nexport const hookTypeNames = [\n${list}];\n`;
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  assert.equal(readFileSync(file, "utf8"), text, "run UPDATE_DOCS=1 npm test test/clients");
});

test("a response that the document does not describe is refused", () => {
  const describe = (status: number, body: unknown, type = "application/json", version = "2026-10-01") =>
    assertDescribed(version, "POST", "/_/public-api/v2/users?x=1", {
      status,
      headers: new Headers({ "content-type": type }),
      body,
    });
  const user = { id: randomUUID(), name: "Ada", email: "ada@example.com" };
  for (const version of everyVersion)
    describe(200, { users: [user] }, "application/json; charset=utf-8", version);
  assert.throws(() => describe(200, { users: [{ ...user, id: "1" }] }), /must match/);
  assert.throws(() => describe(200, { users: [{ ...user, phone: "1" }] }), /additional properties/);
  assert.throws(() => describe(200, {}), /required property 'users'/);
  assert.throws(() => describe(200, "users", "text/plain"), /text\/plain/);
  assert.throws(() => describe(409, {}), /409 is not in the OpenAPI document/);
  assert.throws(
    () =>
      assertDescribed("2026-10-01", "GET", `/_/public-api/v2/recordings/${user.id}/download`, {
        status: 302,
        headers: new Headers(),
        body: undefined,
      }),
    /lacks the header Location/,
  );
});

test("a response with a header that the document does not describe is refused", () => {
  const headers = { "content-type": "application/json", "X-RateLimit-Limit": "60", vary: "origin" };
  const check = (more: Record<string, string>, path = "/_/public-api/v2/users", version?: string) =>
    assertDescribed(version, "POST", path, {
      status: 200,
      headers: new Headers({ ...headers, ...more }),
      body: path.endsWith("users") ? { users: [] } : {},
    });
  check({ "X-Request-Id": randomUUID() }, undefined, "2026-10-01");
  assert.throws(
    () => check({ "X-RateLimit-Reset": "1" }, undefined, "2026-10-01"),
    /has the header x-ratelimit-reset, which is not in the OpenAPI document/,
  );
  // Without a version header, what needs none is validated.
  check({ "X-RateLimit-Reset": "1" });
  check({}, "/_/public-api/oauth2/revoke");
  assert.throws(
    () => check({ "X-RateLimit-Reset": "1" }, "/_/public-api/oauth2/revoke"),
    /x-ratelimit-reset/,
  );
});

test("pages of other origins may read every header that the document describes", () => {
  const { components, paths } = JSON.parse(
    readFileSync(new URL("openapi/2026-10-01.json", packages), "utf8"),
  ) as {
    components: { headers: object };
    paths: Record<string, Record<string, { responses: Record<string, { headers?: object }> }>>;
  };
  const described = Object.entries(paths)
    .filter(([path]) => path.startsWith("/_/public-api/v2/"))
    .flatMap(([, operations]) => Object.values(operations))
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ headers = {} }) => Object.keys(headers))
    // Browsers follow redirects themselves.
    .filter((name) => name !== "Location");
  const names = new Set([...Object.keys(components.headers), ...described].map((name) => name.toLowerCase()));
  assert.deepEqual([...names].sort(), [...exposedHeaders].sort());
});

test("a webhook that the document does not describe is refused", () => {
  const payload = { type: "recording_deleted", user_id: randomUUID(), data: { id: randomUUID() } };
  assertWebhookDescribed(payload);
  assertWebhookDescribed({ ...payload, data: { test: true } });
  assert.throws(() => assertWebhookDescribed({ ...payload, data: {} }), /required property 'id'/);
  assert.throws(() => assertWebhookDescribed({ ...payload, version: 1 }), /additional properties/);
  assert.throws(() => assertWebhookDescribed({ ...payload, type: "recording_seen" }), /no OpenAPI document/);
});
