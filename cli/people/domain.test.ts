import assert from "node:assert/strict";
import { after, test } from "node:test";
import { parley, prepareServer, runParley } from "../../test/support/server-process.ts";

const server = await prepareServer({ hasAccount: false });
after(() => server.dispose());
await server.start();

/** A command's standard error, whether it succeeds or not. */
const stderrOf = async (...args: string[]): Promise<string> => (await runParley(server, ...args)).stderr;

test("domain claim, list and release: show the owner of a domain and accounts in other workspaces", async () => {
  const first = await parley(
    server,
    "workspace",
    "create",
    "--name",
    "First",
    "--email-domain",
    "one.example",
  );
  const second = await parley(server, "workspace", "create", "--name", "Second");
  const create = (workspace: string, email: string) =>
    stderrOf("user", "create", "--email", email, "--name", "X", "--workspace", workspace);
  assert.match(await create(second, "a@one.example"), /claimed by the workspace .*\(First\).*domain release/);
  assert.doesNotMatch(await create(first, "a@one.example"), /claimed/);

  await create(first, "boss@two.example");
  const claimed = await stderrOf("domain", "claim", "--domain", "Two.Example", "--workspace", second);
  assert.match(
    claimed,
    /claimed two\.example\nboss@two\.example has an account in First; it will be deactivated when/,
  );
  assert.match(
    await stderrOf("domain", "claim", "--domain", "two.example", "--workspace", first),
    /two\.example is claimed by the workspace .* \(Second\)/,
  );
  const rows = JSON.parse(await parley(server, "domain", "list", "--json"));
  assert.deepEqual(
    rows.filter(({ domain }: { domain: string }) => domain.endsWith(".example")),
    [
      { domain: "one.example", workspace_id: first, claimed_by: "operator" },
      { domain: "two.example", workspace_id: second, claimed_by: "operator" },
    ],
  );
  assert.match(
    await stderrOf("domain", "release", "--domain", "one.example", "--workspace", first),
    /released one\.example/,
  );
  assert.equal(await parley(server, "domain", "list"), `two.example\t${second}\toperator`);

  // Listed by two workspaces, so neither owns it.
  const third = ["workspace", "create", "--name", "Third", "--email-domain", "one.example"];
  await parley(server, ...third);
  assert.match(await stderrOf(...third), /one\.example is not claimed by this workspace/);
});
