import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parley, prepareServer, runParley } from "../../test/support/server-process.ts";

const server = await prepareServer();
after(() => server.dispose());
await server.start();

test("scim token, list and revoke: the printed token works at once, is listed without its value, and ends when revoked", async () => {
  const workspace = await parley(server, "workspace", "create", "--name", "Provisioned");
  const read = async (token: string) =>
    (await fetch(`${server.url}/_/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } })).status;
  const unclear = await runParley(server, "scim", "token");
  assert.match(unclear.stderr, /several workspaces; name one/);
  assert.notEqual(unclear.code, 0);
  const token = await parley(server, "scim", "token", "--workspace", workspace, "--name", "Entra");
  assert.equal(await read(token), 200);
  const listed = JSON.parse(await parley(server, "scim", "list", "--workspace", workspace, "--json"));
  assert.deepEqual(
    listed.map(({ name, ignored_attributes }: { name: string; ignored_attributes: object }) => [
      name,
      ignored_attributes,
    ]),
    [["Entra", {}]],
  );
  assert.ok(!JSON.stringify(listed).includes(token));
  assert.match(await parley(server, "scim", "list", "--workspace", workspace), /\tEntra\t20\d\d-/);
  const [{ id }] = listed;
  assert.match((await runParley(server, "scim", "revoke", id)).stderr, new RegExp(`revoked ${id}`));
  assert.equal(await read(token), 401);
  assert.match((await runParley(server, "scim", "revoke", id)).stderr, /does not exist or is revoked/);
  assert.equal(await parley(server, "scim", "list", "--workspace", workspace), "");
});
