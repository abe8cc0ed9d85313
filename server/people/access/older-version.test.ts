import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../../../test/support/database.ts";
import { finishMigrations, migrate, readMigrations } from "../../platform/db/migrate.ts";

/** What version 1.1.0 lists recordings by. */
const columns = "principal_id, start_datetime, recording_id, title_key, meeting_type_id, external";

test("until migrate --finish, version 1.1.0 finds in the grants what it filters by, after a change by either version", async () => {
  const { settings } = await createTestDatabase("template1");
  const client = new pg.Client(settings);
  await client.connect();
  try {
    await migrate(settings, { migrations: readMigrations().filter(({ number }) => number < 110) });
    const [workspace, type] = [randomUUID(), randomUUID()];
    await client.query("insert into workspaces (id, name, members_id) values ($1, 'W', $2)", [
      workspace,
      randomUUID(),
    ]);
    await client.query(
      "insert into meeting_types (id, workspace_id, name, scope, is_default, position) values ($1, $2, 'Sales', 'external', false, 9)",
      [type, workspace],
    );
    const record = async (title: string): Promise<string> => {
      const id = randomUUID();
      await client.query(
        `insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
           share_state, external, meeting_type_id)
         values ($1, $2, $3, now(), now(), 0, 'audio', 'upload', 'restricted', true, $4)`,
        [id, workspace, title, type],
      );
      return id;
    };
    /** Its insert, which ends with columns of its own. */
    const grantAsOlder = (id: string) =>
      client.query(
        `insert into recording_grants as g (${columns})
         select workspace_id, start_datetime, id, title_key, meeting_type_id, external from recordings where id = $1
         on conflict (principal_id, start_datetime, recording_id) do update
           set title_key = excluded.title_key, meeting_type_id = excluded.meeting_type_id, external = excluded.external`,
        [id],
      );
    const grantsOf = async (id: string) =>
      (
        await client.query(
          "select title_key, meeting_type_id, external from recording_grants where recording_id = $1",
          [id],
        )
      ).rows;

    const before = await record("Before");
    await grantAsOlder(before);
    await migrate(settings);
    await grantAsOlder(before);
    const granted = await record("Granted by the new version");
    await client.query(
      `insert into recording_grants (principal_id, start_datetime, recording_id)
       select workspace_id, start_datetime, id from recordings where id = $1`,
      [granted],
    );
    assert.deepEqual(await grantsOf(granted), [
      { title_key: "granted by the new version", meeting_type_id: type, external: true },
    ]);
    await client.query(
      "update recordings set title = 'Renamed', meeting_type_id = null, external = false where id = any($1::uuid[])",
      [[before, granted]],
    );
    for (const id of [before, granted])
      assert.deepEqual(await grantsOf(id), [
        { title_key: "renamed", meeting_type_id: null, external: false },
      ]);

    await finishMigrations(settings, { waitMs: 0 });
    const { rows } = await client.query("select * from recording_grants order by recording_id");
    assert.deepEqual(
      rows.map((row) => Object.keys(row).sort()),
      Array.from(rows, () => ["principal_id", "recording_id", "start_datetime"]),
    );
    assert.equal(rows.length, 2);
    await client.query("update recordings set title = 'Renamed again' where id = $1", [before]);
  } finally {
    await client.end();
  }
});
