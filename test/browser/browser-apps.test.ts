import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { makeWorkspace } from "../support/factories.ts";
import { makeClient } from "../support/oauth.ts";
import { makeMedia } from "./recording-support.ts";
import { startBrowserApp } from "./support.ts";

const app = await startBrowserApp();
const workspace = await makeWorkspace(app.db);
const recordingId = await makeMedia(app, workspace.member.token);

test("a page of a registered origin calls the API, downloads a recording and calls the assistants' tools", async () => {
  const site = createServer((_request, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end('<!doctype html><html lang="en"><title>Elsewhere</title><h1>Elsewhere</h1>');
  }).listen(0, "127.0.0.1");
  after(() => site.close());
  await once(site, "listening");
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  await makeClient(app, workspace, { isPublic: true, corsOrigins: [origin] });
  const context = await app.browser.newContext();
  after(() => context.close());
  const page = await context.newPage();
  await page.goto(origin);

  const results = await page.evaluate<unknown>(`(async () => {
    const url = ${JSON.stringify(app.url)};
    const headers = {
      authorization: ${JSON.stringify(`Bearer ${workspace.member.token}`)},
      "public-api-version": "2026-10-01",
    };
    const download = url + "/_/public-api/v2/recordings/${recordingId}/download";
    const whole = await fetch(download, { headers });
    const part = await fetch(download, { headers: { ...headers, range: "bytes=0-9" } });
    const tools = await fetch(url + "/mcp", {
      method: "POST",
      headers: {
        authorization: headers.authorization,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2025-06-18",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    const gone = await fetch(whole.url.replace(/signature=[^&]*/, "signature=0"));
    return {
      whole: [whole.status, whole.redirected, (await whole.arrayBuffer()).byteLength > 10_000],
      part: [part.status, part.headers.get("content-range") !== null, (await part.arrayBuffer()).byteLength],
      tools: [tools.status, (await tools.json()).result.tools.length, tools.headers.get("x-request-id") !== null],
      gone: [gone.status, (await gone.json()).error],
    };
  })()`);
  assert.deepEqual(results, {
    whole: [200, true, true],
    part: [206, true, 10],
    tools: [200, 9, true],
    gone: [403, "link_invalid"],
  });
});
