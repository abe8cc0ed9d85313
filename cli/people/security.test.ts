import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parley, prepareServer, runParley } from "../../test/support/server-process.ts";

const server = await prepareServer();
after(() => server.dispose());
await server.start();

test("security show and reset: print the rules of a workspace, and remove them without signing in", async () => {
  const workspace = await parley(server, "workspace", "create", "--name", "Locked");
  const show = async () =>
    JSON.parse(await parley(server, "security", "show", "--workspace", workspace, "--json"));
  assert.equal((await show()).second_factor, "nobody");
  assert.match(
    await parley(server, "security", "show", "--workspace", workspace),
    /^second_factor\tnobody\n/,
  );
  const reset = await runParley(server, "security", "reset", "--workspace", workspace);
  assert.match(reset.stderr, /has no security rules/);
  const unclear = await runParley(server, "security", "reset");
  assert.match(unclear.stderr, /several workspaces; name one/);
});
