import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { refused } from "../../test/support/library.ts";
import { parley, prepareServer } from "../../test/support/server-process.ts";

const server = await prepareServer({ hasAccount: false });
after(() => server.dispose());

const run = (...args: string[]) => parley(server, "oauth-grant", ...args);

const fails = (...args: string[]) => refused(server, "oauth-grant", ...args);

test("oauth-grant lists what users have authorized, and changes date filters of self-registered apps only", async () => {
  await parley(server, "workspace", "create", "--name", "Apps");
  await parley(server, "user", "create", "--email", "ada@example.com", "--name", "Ada");
  const uri = ["--redirect-uri", "https://app.example.com/callback"];
  const notes = JSON.parse(await parley(server, "oauth-client", "create", "--name", "Notes", ...uri));
  const pool = new pg.Pool({ connectionString: server.env.PARLEY_DATABASE_URL });
  await pool.query(
    `with tool as (
       insert into oauth_clients (id, name, is_public, is_legacy, redirect_uris)
       values (gen_random_uuid(), 'Sync tool', true, false, '{https://tool.example/}') returning id)
     insert into oauth_grants (id, client_id, user_id, created_at)
     select gen_random_uuid(), client.id, u.id, client.at from users u,
       (select id, now() as at from tool union select $1::uuid, now() - interval '1 day') client
     where u.email = 'ada@example.com'`,
    [notes.client_id],
  );
  const listed = JSON.parse(await run("list"));
  assert.deepEqual(
    listed.map((grant: Record<string, unknown>) => [grant.client_name, grant.datetime_filters]),
    [
      ["Sync tool", "contract"],
      ["Notes", "contract"],
    ],
  );
  const [tool, registered] = listed;
  const changed = JSON.parse(
    await run("update", tool.id.toUpperCase(), "--datetime-filters", "by-name", "--compat", "hubspot"),
  );
  assert.deepEqual(changed, { ...tool, datetime_filters: "by-name", compatibility: "hubspot" });
  assert.deepEqual(JSON.parse(await run("list", "--email", "ada@example.com")), [changed, registered]);
  const { rows } = await pool.query(
    "select credential, details from audit_log where action = 'oauth_access_changed'",
  );
  assert.deepEqual(rows, [
    {
      credential: "cli",
      details: {
        grant_id: tool.id,
        user_id: tool.user_id,
        changed: ["datetime_filters", "compatibility"],
      },
    },
  ]);
  await pool.end();

  assert.match(await fails("update", registered.id, "--compat", "hubspot"), /an admin registered Notes/);
  assert.match(await fails("update", tool.id), /choose what to change/);
  assert.match(await fails("update", "nothing", "--compat", "none"), /authorization nothing does not exist/);
  assert.match(await fails("update", tool.id, "--datetime-filters", "reversed"), /Allowed choices are/);
});
