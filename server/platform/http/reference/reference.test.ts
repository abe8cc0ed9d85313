import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { errorCatalogue } from "../../../../contract/errors.ts";
import type { VersionName } from "../../../../contract/versions.ts";
import { type HookType, hookTypes, hookTypesIn } from "../../../../contract/webhooks/hook-types.ts";
import { permissions } from "../../../../test/permissions/table.ts";
import { everyVersion, startTestApp } from "../../../../test/support/app.ts";

const app = await startTestApp({ worker: false });

async function readDocument(version: string) {
  const response = await fetch(`${app.url}/openapi/${version}.json`);
  assert.equal(response.status, 200);
  // biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is looked into at many places.
  return (await response.json()) as any;
}

for (const version of everyVersion) {
  test(`OpenAPI ${version}: a standard linter finds no error`, async () => {
    const config = await createConfig({ extends: ["recommended"] });
    const problems = await lintFromString({
      source: JSON.stringify(await readDocument(version)),
      absoluteRef: `${version}.json`,
      config,
    });
    const found = problems
      .filter((problem) => problem.severity === "error")
      .map((problem) => `${problem.ruleId}: ${problem.message} at ${problem.location[0]?.pointer}`);
    assert.deepEqual(found, []);
  });
}

for (const version of everyVersion) {
  test(`OpenAPI ${version}: the document for clients in packages/openapi describes everything as the served one`, async () => {
    const served = await readDocument(version);
    const file = new URL(`../../../../packages/openapi/${version}.json`, import.meta.url);
    const { paths, webhooks, components } = JSON.parse(readFileSync(file, "utf8"));
    for (const [path, item] of Object.entries(paths)) assert.deepEqual(served.paths[path], item, path);
    assert.deepEqual(served.webhooks, webhooks);
    for (const [name, schema] of Object.entries(components.schemas))
      assert.deepEqual(served.components.schemas[name], schema, name);
  });
}

test("OpenAPI: each document contains the operations of its version", async () => {
  const [older, current] = await Promise.all(everyVersion.map(readDocument));
  assert.equal(current.openapi, "3.1.0");
  for (const path of [
    "/uploads",
    "/uploads/create",
    "/uploads/{upload_id}",
    "/uploads/{upload_id}/promote",
    "/token-info",
  ]) {
    assert.ok(current.paths[`/_/public-api/v2${path}`], path);
    assert.equal(older.paths[`/_/public-api/v2${path}`], undefined, path);
  }
  for (const path of [
    "/recordings",
    "/recordings/{recording_id}/transcript.vtt",
    "/users",
    "/teams",
    "/meeting_types",
  ])
    for (const document of [older, current]) assert.ok(document.paths[`/_/public-api/v2${path}`], path);
  assert.ok(current.components.schemas.Recording.properties.share_state);
});

test("OpenAPI: each document names the hook types of its version and no other", async () => {
  for (const version of everyVersion) {
    const document = await readDocument(version);
    const expected = hookTypesIn(version as VersionName);
    const { post: create } = document.paths["/_/public-api/v2/hooks/create"];
    const body = create.requestBody.content["application/json"].schema;
    assert.deepEqual(body.properties.hook_type.enum, expected);
    assert.deepEqual(document.components.schemas.HookFilter.properties.hook_type.enum, expected);
    assert.deepEqual(document.components.schemas.Hook.properties.hook_type.enum, expected);
    const text = JSON.stringify(document);
    for (const type of Object.keys(hookTypes))
      assert.equal(text.includes(`"${type}"`), expected.includes(type as HookType), `${type} in ${version}`);
  }
});

test("OpenAPI: 403 is documented for every operation that refuses some caller", async () => {
  const documents = await Promise.all(everyVersion.map(readDocument));
  // biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is looked into at many places.
  const operations: any[] = documents.flatMap(({ paths }) =>
    Object.values(paths).flatMap(Object.values as never),
  );
  let checked = 0;
  for (const [row, outcomes] of Object.entries(permissions)) {
    if (!Object.values(outcomes).includes(403)) continue;
    const [id] = row.split(" ");
    for (const operation of operations.filter(({ operationId }) => operationId === id)) {
      assert.ok(operation.responses["403"], `${id} lacks 403`);
      checked += 1;
    }
  }
  assert.ok(checked > 100, `${checked} operations`);
});

test("OpenAPI: the operations of a version are deprecated if its status on this server is not current", async () => {
  const [older, current] = await Promise.all(everyVersion.map(readDocument));
  const path = "/_/public-api/v2/recordings";
  assert.equal(older.paths[path].post.deprecated, true);
  assert.equal(current.paths[path].post.deprecated, undefined);
  assert.equal(older.paths["/_/api/v1/hooks"].get.deprecated, undefined);
});

test("OpenAPI: each document has a webhook with typed data for each hook type of its version", async () => {
  for (const version of everyVersion) {
    const { webhooks, components } = await readDocument(version);
    assert.deepEqual(Object.keys(webhooks), hookTypesIn(version as VersionName));
    for (const [type, { post }] of Object.entries<{ post: { requestBody: unknown } }>(webhooks)) {
      const name = /schemas\/(\w+)/.exec(JSON.stringify(post.requestBody))?.[1] ?? "";
      const payload = components.schemas[name];
      assert.equal(payload.properties.type.const, type);
      assert.match(payload.properties.data.$ref, /^#\/components\/schemas\//);
    }
    const { RecordingEventData: recording } = components.schemas;
    assert.deepEqual(Object.keys(recording.properties.recorders.items.properties), ["id", "name", "email"]);
  }
});

test("OpenAPI: a new hook's include is the one of its type", async () => {
  for (const version of everyVersion) {
    const document = await readDocument(version);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, "document");
    const pointer =
      "document#/paths/~1_~1public-api~1v2~1hooks~1create/post/requestBody/content/application~1json/schema";
    const check = (type: string, include: object) =>
      ajv.validate(pointer, { hook_url: "https://hooks.example", hook_type: type, include });
    assert.equal(check("recording_added", { participants: true }), true);
    assert.equal(check("recording_added", { participants: 1 }), false);
    assert.equal(check("highlight_updated", { speakers: true }), true);
    assert.equal(check("highlight_updated", { speakers: 1 }), false);
    assert.equal(check("story_added", {}), true);
  }
});

test("OpenAPI: bodies with a required field are required, others are not", async () => {
  for (const document of await Promise.all(everyVersion.map(readDocument))) {
    assert.equal(document.paths["/_/public-api/v2/hooks/create"].post.requestBody.required, true);
    assert.equal(document.paths["/_/public-api/v2/recordings"].post.requestBody.required, undefined);
    assert.equal(document.paths["/_/public-api/oauth2/token"].post.requestBody.required, true);
  }
});

test("OpenAPI: the file PUT has its header and errors, in the older version without If-None-Match", async () => {
  const [older, current] = (await Promise.all(everyVersion.map(readDocument))).map(
    ({ paths }) => paths["/_/media/uploads/{upload_id}"].put,
  );
  for (const [put, required] of [
    [older, undefined],
    [current, true],
  ]) {
    for (const status of ["200", "403", "409", "412", "413", "428"]) assert.ok(put.responses[status], status);
    const header = put.parameters.find(({ name }: { name: string }) => name === "If-None-Match");
    assert.equal(header.required, required);
    // The older version has no Create Upload, whose response has the URL for tus.
    assert.equal(/tus_url/.test(put.description), required ?? false);
  }
});

test("OpenAPI: OAuth, rate limits, Retry-After and a version's lifecycle are described", async () => {
  for (const document of await Promise.all(everyVersion.map(readDocument))) {
    const { authorizationCode } = document.components.securitySchemes.oauth2.flows;
    for (const url of [authorizationCode.authorizationUrl, authorizationCode.tokenUrl])
      assert.notEqual((await fetch(app.url + url)).status, 404, url);
    const { responses } = document.paths["/_/public-api/v2/recordings"].post;
    for (const response of Object.values<{ headers: object }>(responses))
      for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "Deprecation", "Sunset", "Link"])
        assert.ok(name in response.headers, name);
    for (const status of [429, 503]) assert.ok(responses[status].headers["Retry-After"], `${status}`);
    assert.match(responses[200].headers.Warning.description, /exclude every recording/);
    const { post: token } = document.paths["/_/public-api/oauth2/token"];
    for (const [status, name] of [
      ["200", "X-RateLimit-Remaining"],
      ["401", "WWW-Authenticate"],
      ["429", "Retry-After"],
    ])
      assert.ok(token.responses[status as string].headers[name as string], `${status}: ${name}`);
    assert.match(token.responses[400].description, /invalid_target/);
  }
});

test("OpenAPI: an unknown version is 404", async () => {
  assert.equal((await fetch(`${app.url}/openapi/2020-01-01.json`)).status, 404);
});

test("reference pages: load nothing from another host", async () => {
  for (const path of [
    "/docs",
    ...everyVersion.map((version) => `/docs/${version}`),
    "/docs/errors",
    "/docs/migration",
  ]) {
    const response = await fetch(app.url + path);
    assert.equal(response.status, 200, path);
    const html = await response.text();
    assert.doesNotMatch(html, /(src|href)="(https?:)?\/\//, path);
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    for (const [, asset = ""] of html.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g))
      assert.equal((await fetch(app.url + asset)).status, 200, asset);
  }
});

test("errors page: lists the whole catalog", async () => {
  const html = await (await fetch(`${app.url}/docs/errors`)).text();
  for (const [code, { title }] of Object.entries(errorCatalogue)) {
    assert.ok(html.includes(`id="${code}"`), code);
    assert.ok(html.includes(title), title);
  }
});
