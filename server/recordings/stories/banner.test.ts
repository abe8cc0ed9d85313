import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { imageTypeOf, maxImageBytes } from "./image-fetcher.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const requests: { path: string; headers: Record<string, unknown> }[] = [];
const pages: Record<string, RequestListener> = {
  "/a.png": (_request, response) => response.setHeader("content-type", "text/html").end(png),
  "/b.png": (_request, response) => response.end(Buffer.concat([png, Buffer.from("b")])),
  "/moved": (_request, response) => response.writeHead(302, { location: "/a.png" }).end(),
  "/loop": (_request, response) => response.writeHead(302, { location: "/loop" }).end(),
  "/inside": (_request, response) => response.writeHead(302, { location: "http://10.0.0.1/a.png" }).end(),
  "/page": (_request, response) => response.setHeader("content-type", "image/png").end("<html>"),
  "/drawing": (_request, response) =>
    response.setHeader("content-type", "image/svg+xml").end("<svg xmlns='http://www.w3.org/2000/svg'/>"),
  "/large": (_request, response) => response.end(Buffer.concat([png, Buffer.alloc(maxImageBytes)])),
  "/missing": (_request, response) => response.writeHead(404).end(),
  "/slow": (_request, response) => void response.write(png.subarray(0, 20)),
};
const site = createServer((request, response) => {
  requests.push({ path: request.url ?? "", headers: request.headers });
  pages[request.url ?? ""]?.(request, response);
});
await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
after(() => {
  site.closeAllConnections();
  site.close();
});
const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

const app = await startTestApp({ worker: false, env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const guarded = await startTestApp({ worker: false });
const workspace = await makeWorkspace(app.db);
const { member } = workspace;

async function makeStory(banner: string, { at = app, token = member.token, more = {} } = {}) {
  const body = { title: "Launch", banner_image_url: banner, ...more };
  const story = await call(at, "POST", "/_/api/v1/stories", body, { token, version: null });
  assert.equal(story.status, 200, story.text);
  return story.body;
}

async function bannerOf(storyId: string, { at = app, token = member.token } = {}) {
  const response = await fetch(`${at.url}/_/api/v1/stories/${storyId}/banner`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

test("a banner is fetched once by the server, and served as the image that it is", async () => {
  const { id } = await makeStory(`${siteUrl}/a.png`);
  requests.length = 0;
  const all = await Promise.all([bannerOf(id), bannerOf(id), bannerOf(id)]);
  all.push(await bannerOf(id));
  for (const { status, headers, bytes } of all) {
    assert.equal(status, 200);
    assert.deepEqual(bytes, png);
    assert.equal(headers.get("content-type"), "image/png");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/);
  }
  assert.deepEqual(
    requests.map(({ path }) => path),
    ["/a.png"],
  );
  // The site learns nothing of who looks at what.
  for (const name of ["authorization", "cookie", "referer", "x-forwarded-for"])
    assert.equal(requests[0]?.headers[name], undefined, name);
});

test("another banner takes the place of the first; an empty one and deletion remove the copy", async () => {
  const { id } = await makeStory(`${siteUrl}/a.png`);
  await bannerOf(id);
  const change = (banner_image_url: string) =>
    call(
      app,
      "PATCH",
      `/_/api/v1/stories/${id}`,
      { banner_image_url },
      { token: member.token, version: null },
    );
  await change(`${siteUrl}/b.png`);
  assert.equal((await bannerOf(id)).bytes.length, png.length + 1);
  await change("");
  assert.equal((await bannerOf(id)).status, 404);
  await call(app, "DELETE", `/_/api/v1/stories/${id}`, undefined, { token: member.token, version: null });
  const { rowCount } = await app.db.pool.query("select 1 from story_banners where story_id = $1", [id]);
  assert.equal(rowCount, 0);
});

test("redirects are followed, each behind the same guard; anything but a small image gives 404", async () => {
  assert.equal((await bannerOf((await makeStory(`${siteUrl}/moved`)).id)).status, 200);
  for (const path of ["/loop", "/inside", "/page", "/drawing", "/large", "/missing"])
    assert.equal((await bannerOf((await makeStory(`${siteUrl}${path}`)).id)).status, 404, path);
});

test("a site that stalls delays the request for about 10 seconds, and is not asked again at once", async () => {
  const { id } = await makeStory(`${siteUrl}/slow`);
  const before = Date.now();
  assert.equal((await bannerOf(id)).status, 404);
  assert.ok(Date.now() - before < 20_000, `${Date.now() - before} ms`);
  requests.length = 0;
  assert.equal((await bannerOf(id)).status, 404);
  assert.equal(requests.length, 0);
});

test("no banner image is requested from a private IP address", async () => {
  const own = await makeWorkspace(guarded.db);
  const { token } = own.member;
  requests.length = 0;
  for (const url of [`${siteUrl}/a.png`, "http://169.254.169.254/latest", "http://[::1]/a.png"]) {
    const { id } = await makeStory(url, { at: guarded, token });
    assert.equal((await bannerOf(id, { at: guarded, token })).status, 404, url);
  }
  assert.equal(requests.length, 0);
});

test("another workspace gets no banner, and a public link serves it as long as it works", async () => {
  const story = await makeStory(`${siteUrl}/a.png`, { more: { public: true } });
  const other = await makeWorkspace(app.db);
  assert.equal((await bannerOf(story.id, { token: other.member.token })).status, 404);
  const shared = `${app.url}/_/api/v1/shared/${story.public_url.split("/").at(-1)}/banner`;
  const open = await fetch(shared);
  assert.deepEqual([open.status, open.headers.get("content-type")], [200, "image/png"]);
  assert.deepEqual(Buffer.from(await open.arrayBuffer()), png);
  await call(
    app,
    "PATCH",
    `/_/api/v1/stories/${story.id}`,
    { public: false },
    { token: member.token, version: null },
  );
  assert.equal((await fetch(shared)).status, 404);
});

test("images are recognized by their first bytes", () => {
  for (const [start, type] of [
    [png, "image/png"],
    [Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "image/jpeg"],
    [Buffer.from("GIF89a"), "image/gif"],
    [Buffer.from("RIFF\0\0\0\0WEBPVP8 "), "image/webp"],
    [Buffer.from("\0\0\0\x1cftypavif"), "image/avif"],
    [Buffer.from("<svg"), null],
    [Buffer.alloc(0), null],
  ] as const)
    assert.equal(imageTypeOf(start), type);
});
