import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import { migrate, readMigrations } from "../../platform/db/migrate.ts";
import { loadDatabase } from "./load.ts";

/** As the backup's own table of migrations would. */
async function noteMigrations(client: pg.Client): Promise<void> {
  for (const { number, name } of readMigrations().filter((one) => one.number <= 50))
    await client.query("insert into schema_migrations (number, name) values ($1, $2)", [number, name]);
}

test("the jobs of a backup from before the present queue wait in it after the restore", async () => {
  const database = await createTestDatabase("template1");
  const columns = [
    "id",
    "name",
    "priority",
    "data",
    "state",
    "retry_count",
    "policy",
    "singleton_key",
    "group_id",
  ];
  const times = ["created_on", "start_after", "heartbeat_on"];
  const id = "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11";
  const time = "2026-11-01 10:00:00+00";
  const row = (state: string, key: string) =>
    `${[id, "promote_upload", "0", '{"uploadId": "1"}', state, "0", "exclusive", key, "w/u", time, time, "\\N"].join("\t")}\n`;
  const load = (replace: boolean) =>
    loadDatabase(
      database.settings,
      {
        migration: 50,
        tables: [{ name: "pgboss.job", columns: [...columns, ...times] }],
        sequences: [],
        open: async () => Readable.from([row("created", "waiting"), row("active", "running")]),
      },
      { replace, finish: noteMigrations },
    );
  await load(false);
  await migrate(database.settings);
  const client = new pg.Client(database.settings);
  await client.connect();
  const jobs = async () =>
    (await client.query("select key, data, owner, attempts from jobs order by key")).rows;
  const taken = { data: { uploadId: "1" }, owner: "w/u", attempts: 0 };
  const expected = [{ key: "waiting", ...taken }];
  // A job that ran when the backup was made has no heartbeat to wait for.
  assert.deepEqual(await jobs(), [{ key: "running", ...taken }, ...expected]);
  await client.query("insert into jobs (name, key) values ('send_mail', 'of what is replaced')");
  await load(true);
  await migrate(database.settings);
  assert.deepEqual(await jobs(), [{ key: "running", ...taken }, ...expected]);
  await client.end();
  await database.drop();
});
