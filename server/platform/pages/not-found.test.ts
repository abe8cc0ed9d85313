import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";

const app = await startTestApp();

const get = async (path: string, accept: string, method = "GET") => {
  const response = await fetch(app.url + path, { method, headers: { accept }, redirect: "manual" });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};

test("unknown paths: browsers get a 404 page, other clients a problem", async () => {
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  for (const path of ["/nothing", "/recordings/1/2/3", "/assets/gone.js", "/sign-in/x?y=<b>"]) {
    const page = await get(path, browser);
    assert.deepEqual([page.status, page.type], [404, "text/html; charset=utf-8"], path);
    assert.match(page.text, /<h1>Page not found<\/h1>/);
    assert.match(page.text, /href="\/"/);
    assert.doesNotMatch(page.text, /<b>/);
    assert.equal((await get(path, browser, "HEAD")).status, 404);
    for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.5"]) {
      const problem = await get(path, accept);
      assert.equal(problem.status, 404);
      assert.equal(JSON.parse(problem.text).error, "not_found");
    }
  }
  // The API always returns problems.
  assert.match((await get("/_/api/v1/nothing", browser)).type ?? "", /^application\/problem\+json/);
  assert.equal(JSON.parse((await get("/nothing", browser, "DELETE")).text).error, "not_found");
});
