import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { createOldSchema } from "../support/database.ts";
import { parley, prepareServer } from "../support/server-process.ts";

const server = await prepareServer({ isEmpty: true, env: { PARLEY_BACKUP_BEFORE_UPGRADE: "true" } });
after(() => server.dispose());

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.env.PARLEY_DATABASE_URL);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

const states = (): string[] =>
  readdirSync(join(server.env.PARLEY_DATA_DIR ?? "", "before-upgrades", "backups")).sort();

test("an upgrade copies the database first, and its rollback brings that state back", async () => {
  await createOldSchema(server.env.PARLEY_DATABASE_URL ?? "");
  await query(
    "insert into workspaces (id, name, members_id) values (gen_random_uuid(), 'Before', gen_random_uuid())",
  );
  await parley(server, "migrate");
  const [id = ""] = states();
  assert.equal(states().length, 1);
  await parley(server, "workspace", "create", "--name", "After");
  await parley(server, "migrate");
  assert.equal(states().length, 1, "without an upgrade nothing is copied");

  await server.start();
  await assert.rejects(parley(server, "upgrade", "rollback", "--yes"), /a server is using/);
  await server.stop();
  await assert.rejects(parley(server, "upgrade", "rollback"), /to confirm/);
  await parley(server, "upgrade", "rollback", "--at", id, "--yes");
  assert.deepEqual(await query("select name from workspaces order by name"), [{ name: "Before" }]);
  assert.deepEqual(await query("select number from schema_migrations"), [{ number: 1 }]);

  // The new version upgrades it again, and keeps both states.
  await server.start();
  assert.equal(await server.stop(), 0);
  assert.equal(states().length, 2);
  assert.match(server.output().stderr, /backed up the database before the upgrade/);
});
