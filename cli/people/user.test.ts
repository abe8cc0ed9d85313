import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call } from "../../test/support/call.ts";
import { refused } from "../../test/support/library.ts";
import { parley, prepareServer } from "../../test/support/server-process.ts";

const server = await prepareServer();
after(() => server.dispose());
await server.start();

const fails = (...args: string[]): Promise<string> => refused(server, ...args);

const admin = "admin@parley.local";
await parley(server, "user", "create", "--email", "b@parley.local", "--name", "B");

test("user list: email, role, state and last sign-in, or JSON", async () => {
  const lines = (await parley(server, "user", "list")).split("\n").map((line) => line.split("\t"));
  assert.deepEqual(lines, [
    [admin, "admin", "active", "-"],
    ["b@parley.local", "member", "active", "-"],
  ]);
  const rows = JSON.parse(await parley(server, "user", "list", "--json"));
  assert.deepEqual(rows[1].email, "b@parley.local");
});

test("user reset-password and invite print only a one-time link, and its page exists", async () => {
  for (const [link, pattern] of [
    [
      await parley(server, "user", "reset-password", "--email", "B@parley.local"),
      /^http:\/\/localhost:\d+\/password-reset\/[\w-]{43}$/,
    ],
    [
      await parley(server, "user", "invite", "--email", "c@parley.local", "--name", "C"),
      /^http:\/\/localhost:\d+\/invitations\/[\w-]{43}$/,
    ],
  ] as const) {
    assert.match(link, pattern);
    assert.equal((await fetch(server.url + new URL(link).pathname)).status, 200);
  }
  assert.match(
    await fails("user", "reset-password", "--email", "c@parley.local"),
    /not accepted the invitation/,
  );
});

test("token list does not show the token again; token revoke ends it immediately", async () => {
  const token = await parley(server, "token", "create", "--email", "b@parley.local", "--name", "mine");
  assert.equal((await call(server, "POST", "/users", {}, { token })).status, 200);
  const listed = await parley(server, "token", "list", "--email", "b@parley.local");
  const [id, type, email, name] = listed.split("\t");
  assert.deepEqual([type, email, name], ["personal_access_token", "b@parley.local", "mine"]);
  assert.equal(listed.includes(token), false);
  await parley(server, "token", "revoke", id ?? "");
  assert.equal((await call(server, "POST", "/users", {}, { token })).status, 401);
  assert.match(await fails("token", "revoke", id ?? ""), /token .* does not exist or is revoked/);
  assert.match(await fails("token", "revoke", "x"), /token x does not exist or is revoked/);
});

test("user deactivate, reactivate and role work as in the API; the last admin is kept", async () => {
  const token = await parley(server, "token", "create", "--email", "b@parley.local");
  await parley(server, "user", "deactivate", "--email", "b@parley.local");
  assert.equal((await call(server, "POST", "/users", {}, { token })).status, 401);
  assert.match(await parley(server, "user", "list"), /b@parley\.local\tmember\tdeactivated/);
  await parley(server, "user", "reactivate", "--email", "b@parley.local");
  assert.match(await fails("user", "role", "--email", admin, "--role", "viewer"), /last active admin/);
  await parley(server, "user", "role", "--email", "b@parley.local", "--role", "admin");
  await parley(server, "user", "role", "--email", admin, "--role", "viewer");
  assert.match(await parley(server, "user", "list"), /admin@parley\.local\tviewer\tactive/);
  assert.match(await fails("user", "deactivate", "--email", "nobody@x.example"), /no user with the email/);
});

test("workspace list: id and name", async () => {
  assert.match(await parley(server, "workspace", "list"), /^[0-9a-f-]{36}\tMy workspace$/);
});
