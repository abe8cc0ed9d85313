import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { givePassword, signInAs } from "../../people/accounts/test/accounts.ts";
import { startLinks } from "../../sharing/public-links/test/public-links.ts";

const webFolder = mkdtempSync(join(tmpdir(), "parley-web-"));
after(() => rmSync(webFolder, { recursive: true, force: true }));
mkdirSync(join(webFolder, "assets"));
for (const name of ["index.html", "public-link.html"])
  writeFileSync(
    join(webFolder, name),
    '<!doctype html><title>%title%</title><meta name="csp-nonce" content="%nonce%">',
  );

const { app, workspace, makePublic } = await startLinks({ webFolder });
await givePassword(app.db, workspace.member);

test("where files are stored locally, pages load images, media and data from this server only", async () => {
  const { token } = await makePublic();
  const own = await (await signInAs(app, workspace.member)).get("/");
  assert.equal(own.status, 200);
  const pages: Record<string, Headers> = { "/": own.headers };
  for (const path of [`/s/${token}`, `/embed/${token}`]) pages[path] = (await fetch(app.url + path)).headers;
  for (const [path, headers] of Object.entries(pages)) {
    const policy = headers.get("content-security-policy") ?? "";
    const directives = new Map(
      policy.split("; ").map((directive): [string, string[]] => {
        const [name = "", ...sources] = directive.split(" ");
        return [name, sources];
      }),
    );
    assert.deepEqual(directives.get("default-src"), ["'none'"], path);
    assert.deepEqual(directives.get("connect-src"), ["'self'", "http://parley.test"], path);
    assert.deepEqual(directives.get("img-src"), ["'self'", "http://parley.test", "data:", "blob:"], path);
    assert.deepEqual(directives.get("media-src"), ["'self'", "http://parley.test", "blob:"], path);
    assert.deepEqual(directives.get("script-src"), ["'self'"], path);
  }
});
