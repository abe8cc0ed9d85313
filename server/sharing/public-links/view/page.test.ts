import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { unknownId } from "../../../../test/support/factories.ts";
import { addMedia, fixture, reach, settled, startLinks, tokenOf } from "../test/public-links.ts";

const webFolder = mkdtempSync(join(tmpdir(), "parley-web-"));
after(() => rmSync(webFolder, { recursive: true, force: true }));
mkdirSync(join(webFolder, "assets"));
writeFileSync(join(webFolder, "index.html"), "<!doctype html><title>App</title>");
writeFileSync(
  join(webFolder, "public-link.html"),
  '<!doctype html><title>%title%</title>%meta%<meta name="csp-nonce" content="%nonce%"><p>100%',
);

const links = await startLinks({ webFolder });
const { app, workspace, manage, makePublic, setState, linksOf } = links;
const { member } = workspace;

const visit = async (path: string) => {
  const response = await fetch(app.url + path, { redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

test("the page of a link: for anybody, with its title as text, and shown in no frame", async () => {
  const { token } = await makePublic({ title: `<script>"A" & 'B'</script> %nonce% $& %meta%` });
  const { status, headers, text } = await visit(`/s/${token}`);
  assert.equal(status, 200);
  const title = "&lt;script&gt;&quot;A&quot; &amp; &#39;B&#39;&lt;/script&gt; %nonce% $&amp; %meta%";
  assert.ok(text.includes(`<title>${title}</title>`), text);
  assert.ok(text.includes(`<meta property="og:title" content="${title}" />`));
  assert.ok(text.includes('<meta property="og:type" content="video.other" />'));
  assert.ok(text.includes(`<meta property="og:url" content="http://parley.test/s/${token}" />`));
  const nonce = /csp-nonce" content="([^"%]+)"/.exec(text)?.[1];
  const policy = headers.get("content-security-policy") ?? "";
  assert.ok(nonce && policy.includes(`'nonce-${nonce}'`));
  assert.match(policy, /frame-ancestors 'none'/);
  assert.deepEqual(
    ["x-frame-options", "x-robots-tag", "referrer-policy", "cache-control"].map((name) => headers.get(name)),
    ["DENY", "noindex, nofollow", "no-referrer", "no-store"],
  );
});

test("the page to be embedded is shown in frames of any page, and runs no scripts but ours", async () => {
  const { token } = await makePublic();
  const { status, headers } = await visit(`/embed/${token}`);
  const policy = headers.get("content-security-policy") ?? "";
  assert.equal(status, 200);
  assert.match(policy, /frame-ancestors \*$/);
  assert.match(policy, /script-src 'self';/);
  assert.deepEqual(
    [headers.get("x-frame-options"), headers.get("cross-origin-resource-policy")],
    [null, "cross-origin"],
  );
});

test("a link that is unknown, expired or protected by a password reveals nothing", async () => {
  const { token, linkId, recordingId } = await makePublic({ title: "Zaubernuss" });
  const states: [number, () => Promise<unknown>][] = [
    [200, () => manage("PATCH", `/links/${linkId}`, member.token, { password: "open sesame" })],
    [
      410,
      () =>
        app.db.pool.query(
          "update public_links set expires_at = now() - interval '1 second', password_hash = null where id = $1",
          [linkId],
        ),
    ],
    [404, () => setState(recordingId, "workspace")],
  ];
  for (const [expected, change] of states) {
    await change();
    for (const page of ["s", "embed"]) {
      const { status, text } = await visit(`/${page}/${token}`);
      assert.equal(status, expected);
      assert.match(text, /<title>Parley<\/title><meta name="csp-nonce"/);
      assert.doesNotMatch(text, /Zaubernuss/);
    }
  }
  assert.equal((await visit("/s/x")).status, 404);
});

test("a card of a highlight has a picture of that part, which anybody may fetch", async () => {
  const { recordingId } = await makePublic();
  await addMedia(app, recordingId, {
    format: "mp4",
    bytes: fixture("good-faststart.mp4"),
    durationMs: 12_000,
  });
  const body = { text: "Look", timestamp: 1000, duration: 1500 };
  const { id } = (await manage("POST", `/recordings/${recordingId}/highlights`, member.token, body)).body;
  const token = tokenOf((await manage("POST", `/highlights/${id}/links`, member.token, {})).body);
  await settled(links, token);
  const { text } = await visit(`/s/${token}`);
  const picture = /og:image" content="([^"]+)"/.exec(text)?.[1] ?? "";
  const response = await fetch(reach(app, picture));
  assert.deepEqual([response.status, response.headers.get("content-type")], [200, "image/jpeg"]);
});

test("the URL of a public recording redirects visitors who are not signed in to its link, at the same time", async () => {
  const { recordingId, token, linkId } = await makePublic();
  const path = `/recordings/${recordingId}`;
  const shown = await visit(`${path}?t=65&next=x`);
  assert.deepEqual([shown.status, shown.headers.get("location")], [303, `/s/${token}?t=65`]);
  const second = (await manage("POST", `${path}/links`, member.token, {})).body;
  assert.equal((await visit(path)).headers.get("location"), `/s/${token}`);
  await manage("DELETE", `/links/${linkId}`, member.token);
  assert.equal((await visit(path)).headers.get("location"), `/s/${tokenOf(second)}`);
  await setState(recordingId, "restricted");
  assert.deepEqual(await linksOf(recordingId), []);
  for (const closed of [path, `/recordings/${unknownId()}`, "/recordings/x"])
    assert.equal(
      (await visit(closed)).headers.get("location"),
      `/sign-in?next=${encodeURIComponent(closed)}`,
    );
});
