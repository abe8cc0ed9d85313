import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import pg from "pg";
import { createTestDatabase } from "../../test/support/database.ts";
import { migrate, readMigrations } from "../db/migrate.ts";

test("an older database: what was public has a link, a story's with what its maker may share", async () => {
  const database = await createTestDatabase("template1");
  const all = readMigrations();
  await migrate(
    database.settings,
    all.filter(({ number }) => number < 20),
  );
  const client = new pg.Client(database.settings);
  await client.connect();
  const [workspace, members, maker, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await client.query("insert into workspaces (id, name, members_id) values ($1, 'Old', $2)", [
    workspace,
    members,
  ]);
  for (const id of [maker, other])
    await client.query(
      "insert into users (id, workspace_id, name, email, role) values ($1, $2, 'Bo', $3, 'member')",
      [id, workspace, `${id}@old.example`],
    );
  /** A recording of somebody that the whole workspace sees, and a highlight of it. */
  const makeRecording = async (recorder: string, shareState: string): Promise<string[]> => {
    const [recording, highlight] = [randomUUID(), randomUUID()];
    await client.query(
      `insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
        share_state, external) values ($1, $2, 'Old', now(), now(), 60000, 'transcript', 'upload', $3, false)`,
      [recording, workspace, shareState],
    );
    await client.query("insert into recording_recorders values ($1, $2, 0)", [recording, recorder]);
    await client.query(
      `insert into recording_grants (principal_id, start_datetime, recording_id, title_key, external)
       select $2, start_datetime, id, title_key, external from recordings where id = $1`,
      [recording, members],
    );
    await client.query(
      "insert into highlights (id, recording_id, text, start_ms, duration_ms) values ($1, $2, 'Look', 1000, 500)",
      [highlight, recording],
    );
    return [recording, highlight];
  };
  const [open = "", mine = ""] = await makeRecording(maker, "public");
  const [, theirs = ""] = await makeRecording(other, "workspace");
  const [told, kept] = [randomUUID(), randomUUID()];
  for (const [id, isPublic] of [
    [told, true],
    [kept, false],
  ]) {
    await client.query(
      `insert into stories (id, workspace_id, created_by, title, is_public, public_version)
       values ($1, $2, $3, 'Old', $4, 3)`,
      [id, workspace, maker, isPublic],
    );
    await client.query("insert into story_highlights values ($1, $2, 0), ($1, $3, 1)", [id, mine, theirs]);
  }

  assert.equal((await migrate(database.settings, all))[0], "0020_public_links");
  const { rows: links } = await client.query(
    "select kind, recording_id, story_id, created_by from public_links order by kind",
  );
  assert.deepEqual(links, [
    { kind: "recording", recording_id: open, story_id: null, created_by: null },
    { kind: "story", recording_id: null, story_id: told, created_by: maker },
  ]);
  const { rows: clips } = await client.query("select highlight_id, start_ms, end_ms from public_link_clips");
  assert.deepEqual(clips, [{ highlight_id: mine, start_ms: 1000, end_ms: 1500 }]);
  await client.end();
  await database.drop();
});
