import assert from "node:assert/strict";
import { test } from "node:test";
import { currentVersion, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace, unknownId } from "../../../../test/support/factories.ts";
import { givePassword, signInAs } from "../test/accounts.ts";

const app = await startTestApp({ worker: false });
const { member, admin } = await makeWorkspace(app.db);
await givePassword(app.db, member, admin);

/** Every operation that is not a GET, as the OpenAPI documents list them. */
async function changingOperations(): Promise<{ version: string; method: string; path: string }[]> {
  const found: { version: string; method: string; path: string }[] = [];
  for (const version of everyVersion) {
    const answer = await fetch(`${app.url}/openapi/${version}.json`);
    const { paths } = (await answer.json()) as {
      paths: Record<string, Record<string, { security?: unknown[] }>>;
    };
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        // Where apps authenticate themselves, or the URL is signed, a cookie means nothing.
        const ignoresCookies = operation.security?.length === 0;
        if (method !== "get" && !ignoresCookies) found.push({ version, method: method.toUpperCase(), path });
      }
    }
  }
  return found;
}

const foreign = [
  { origin: "https://evil.example" },
  { origin: "null" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  // What a browser says of the site counts, whatever else is there.
  { "sec-fetch-site": "cross-site", origin: app.url },
] as const;

test("every operation but GET refuses a cross-site request with a session", async () => {
  const operations = await changingOperations();
  assert.ok(operations.length > 60, String(operations.length));
  const browser = await signInAs(app, admin);
  for (const { version, method, path } of operations) {
    const url = path.replace(/\{\w+\}/g, unknownId);
    // What a cross-site request is doesn't depend on the version.
    for (const headers of version === currentVersion ? foreign : foreign.slice(-1)) {
      const answer = await browser.send(method, url, {
        json: {},
        headers: { ...headers, "public-api-version": version },
      });
      assert.equal(answer.status, 403, `${method} ${url} ${JSON.stringify(headers)} ${answer.text}`);
      assert.match(answer.body.detail, /came from a page on another site/);
    }
  }
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 200);
});

test("requests of our own pages, of a program with the cookie and from the address bar are allowed", async () => {
  const browser = await signInAs(app, member);
  for (const headers of [
    { origin: app.url },
    { "sec-fetch-site": "same-origin", origin: app.url },
    { "sec-fetch-site": "none" },
    // Behind a proxy that does not hand the Host on, the origin is the base address's.
    { origin: app.config.baseUrl },
    {},
  ] as Record<string, string>[]) {
    const answer = await browser.send("PATCH", "/_/api/v1/me", { json: {}, headers });
    assert.equal(answer.status, 200, JSON.stringify(headers));
  }
});

test("no CORS response lets scripts of other sites use a session cookie", async () => {
  const browser = await signInAs(app, member);
  for (const path of ["/_/api/v1/session/me", "/_/api/v1/users", "/sign-in"]) {
    const answer = await browser.get(path, { origin: "https://evil.example" });
    for (const name of ["access-control-allow-origin", "access-control-allow-credentials"])
      assert.equal(answer.headers.get(name), null, path);
  }
});
