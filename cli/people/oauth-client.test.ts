import assert from "node:assert/strict";
import { after, test } from "node:test";
import { refused } from "../../test/support/library.ts";
import { parley, prepareServer } from "../../test/support/server-process.ts";

const server = await prepareServer({ hasAccount: false });
after(() => server.dispose());

const run = (...args: string[]) => parley(server, "oauth-client", ...args);

test("oauth-client create prints the secret, list does not, delete removes the app", async () => {
  await parley(server, "workspace", "create", "--name", "Apps");
  const uri = ["--redirect-uri", "https://app.example.com/callback"];
  const made = JSON.parse(
    await run("create", "--name", "Notes", ...uri, "--redirect-uri", "https://b.example/cb"),
  );
  assert.match(made.client_id, /^[0-9a-f-]{36}$/);
  assert.match(made.client_secret, /^parley_ocs_[\w-]{43}$/);
  assert.deepEqual(made.redirect_uris, ["https://app.example.com/callback", "https://b.example/cb"]);
  assert.deepEqual([made.public, made.legacy], [false, false]);
  const open = JSON.parse(
    await run(
      "create",
      "--name",
      "Page",
      ...uri,
      "--public",
      "--legacy",
      "--cors-origin",
      "https://app.example.com",
    ),
  );
  assert.equal(open.client_secret, null);
  assert.deepEqual([open.public, open.legacy], [true, true]);
  assert.deepEqual(open.cors_origins, ["https://app.example.com"]);
  const listed = await run("list");
  assert.deepEqual(
    JSON.parse(listed).map((client: { name: string }) => client.name),
    ["Page", "Notes"],
  );
  assert.ok(!listed.includes('secret"'));
  await run("delete", made.client_id);
  assert.equal(JSON.parse(await run("list")).length, 1);
});

test("oauth-client prints a one-line error for invalid options", async () => {
  const fails = (...args: string[]) => refused(server, "oauth-client", ...args);
  assert.match(
    await fails("create", "--name", "x", "--redirect-uri", "http://app.example.com/cb"),
    /^parley: --redirect-uri http:\/\/app\.example\.com\/cb must be https.*$/,
  );
  assert.match(
    await fails("create", "--name", "x", "--redirect-uri", "https://a.example/", "--cors-origin", "*"),
    /^parley: --cors-origin \* must be an origin.*$/,
  );
  assert.match(await fails("create", "--name", "x"), /--redirect-uri/);
  assert.match(await fails("delete", "nothing"), /^parley: app nothing does not exist/);
});
