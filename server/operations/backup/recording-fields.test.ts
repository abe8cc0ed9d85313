import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { sql } from "kysely";
import { type FieldName, fieldNames, recordingFields } from "../../../contract/recordings/fields.ts";
import { call, startTestApp } from "../../../test/support/app.ts";
import { createTestDatabase } from "../../../test/support/database.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { freePort } from "../../../test/support/port.ts";
import { until } from "../../../test/support/until.ts";
import { exportWorkspace } from "../../connections/exports/write.ts";
import { insertRun } from "../../connections/imports/runs/queries.ts";
import { runImport } from "../../connections/imports/runs/run.ts";
import { grain } from "../../connections/imports/sources/grain.ts";
import { parleyFolder } from "../../connections/imports/sources/parley-folder.ts";
import { makeTwin } from "../../connections/imports/test/full-workspace.ts";
import { readConfig } from "../../platform/config/config.ts";
import { type Database, openDatabase } from "../../platform/db/database.ts";
import { migrate } from "../../platform/db/migrate.ts";
import { openLocalStore } from "../../platform/storage/local/local.ts";
import { adoptStore } from "../storage-maintenance/owner-marker.ts";
import { createBackup } from "./create.ts";
import { openPlainFolder } from "./folder.ts";
import { restoreBackup } from "./restore.ts";

/*
 * Walks every value that a recording can have through all that reads and writes recordings. A new column or table fails
 * here until it survives all of it, or is named below with the reason why it doesn't have to.
 */

/** What an export and an import keep, with the columns that they don't. */
const kept: Readonly<Record<string, readonly string[]>> = {
  recordings: [
    ...["id", "workspace_id", "created_at", "updated_at"],
    // Derived from other columns, and from the file.
    ...["title_key", "has_thumbnail"],
    // Counts edits of this copy, and notes that nobody has named it yet.
    ...["transcript_version", "default_title"],
    // An import states the start.
    "start_ground",
  ],
  recording_recorders: ["recording_id"],
  recording_teams: ["recording_id", "created_at"],
  recording_user_shares: ["recording_id", "created_at"],
  participants: ["id", "recording_id", "workspace_id", "email_key"],
  // Transcript and speakers are read from the segments; the columns are those of an earlier version.
  highlights: ["id", "recording_id", "workspace_id", "updated_at", "transcript", "speakers"],
  private_notes: ["recording_id"],
  // What an edited segment was before.
  transcript_segments: ["recording_id", "original"],
};

/** Tables about recordings that an import doesn't write. */
const other: readonly string[] = [
  // Derived from the recording, or created again from it.
  ...["recording_grants", "action_items", "search_changes", "search_chunks", "search_recordings"],
  // Files, which the tests of exports compare.
  ...["recording_media", "stored_files", "clips"],
  // Work in progress.
  ...["transcriptions", "transcription_chunks", "intelligence_runs", "intelligence_steps", "import_items"],
  ...["pending_announcements", "awaited_recordings", "uploads"],
  // Says which summary of which model was good; an import has no run of a model.
  "summary_feedback",
  // Written by users of this workspace to each other: an export has them, an import counts them as left out.
  "comments",
  // Private to the user who asked.
  ...["ask_threads", "ask_statements"],
  // What happened to it here, and what was decided about it here.
  ...["events", "deliveries", "transcript_edits", "retention_receipts", "legal_holds", "trashed_recordings"],
  ...["delivered_recordings", "written_files", "recording_meetings"],
  ...["access_requests", "public_links", "favorite_recordings", "recording_voices", "notifications"],
];

const source = await startTestApp({ port: await freePort() });
const folder = mkdtempSync(join(tmpdir(), "parley-fields-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const workspace = await makeWorkspace(source.db, "Source");
const { member } = workspace;
const colleague = await makeUser(source.db, workspace, { name: "Colleague" });
const team = await makeTeam(source.db, workspace, [member], "Sales");

async function manage(method: string, path: string, body?: unknown) {
  const answer = await call(source, method, `/_/api/v1${path}`, body, { token: member.token, version: null });
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return answer.body;
}

const examplesOf = (index: 0 | 1) =>
  Object.fromEntries(fieldNames.map((name) => [name, recordingFields[name].examples[index]]));

/** Get Recording View gives each field the value of its example. */
async function assertShown(id: string, index: 0 | 1): Promise<void> {
  const view = await manage("GET", `/recordings/${id}`);
  const shown = (name: FieldName) => (name in view ? view[name] : view.recording[name]);
  for (const name of fieldNames) {
    const { examples, normalize } = recordingFields[name];
    assert.deepEqual(shown(name), normalize(examples[index]), `${name} is lost`);
  }
}

async function makeFullRecording(): Promise<string> {
  const types = (await call(source, "POST", "/meeting_types", {}, { token: member.token })).body
    .meeting_types;
  const { id: importId } = await manage("POST", "/recordings", {
    title: "Renewal",
    start_datetime: "2021-03-04T05:06:07.089Z",
    ...examplesOf(0),
    team_ids: [team.id],
    recorder_ids: [member.id, colleague.id],
    meeting_type_id: types.find((one: { name: string }) => one.name === "Sales Call").id,
    participants: [
      {
        ...{ name: "Ada", email: "ada@else.example", phone: "+49 1", speaker_key: "s1" },
        ...{ crm_contact_id: "k", attended: false },
        ...{ observed_join_time: "2021-03-04T05:06:08Z", observed_leave_time: "2021-03-04T05:06:09Z" },
      },
      { name: member.name, email: member.email, speaker_key: "s2" },
    ],
    screenshares: [{ start: 1000, end: 2000, participant: 1 }],
    highlights: [{ text: "Look", timestamp: 1000, duration: 2000, tags: ["x"] }],
    notes: "Mine *alone*",
    transcript: {
      language: "de",
      segments: [
        { speaker_key: "s1", start: 0, end: 4000, text: "Guten Morgen." },
        { speaker_key: "s2", start: 4200, end: 9000, text: "Gut." },
      ],
    },
  });
  const id: string = await until("it is imported", async () => {
    return (await manage("GET", `/imports/${importId}`)).recording_id ?? undefined;
  });
  await assertShown(id, 0);
  const shared = await call(
    source,
    "PUT",
    `/recordings/${id}/users`,
    { user_id: colleague.id },
    {
      token: member.token,
    },
  );
  assert.equal(shared.status, 200, shared.text);
  const { participants } = await manage("GET", `/recordings/${id}`);
  // What models write.
  const point = { heading: "Morning", text: "Gut", quote: "Guten Morgen", start: 0 };
  await sql`update recordings set ai_summary = '- Gut', ai_summary_points = ${JSON.stringify([point])}::jsonb, chapters_by_hand = true,
    ai_chapters = '[{"title": "Opening", "start": 0, "quote": "Gut"}]', ai_action_items = ${JSON.stringify([
      {
        ...{ id: participants[0].id, status: "completed", timestamp: 4200, text: "Send it", quote: "Gut" },
        due_on: "2026-12-05",
        assignee_id: participants[1].id,
      },
    ])}::jsonb, ai_template_sections = ${JSON.stringify([
      {
        title: "Risks",
        data: { kind: "bullets", items: ["a"] },
        markdown: "- a",
        text: "a",
        points: [point],
      },
    ])}::jsonb where id = ${id}`.execute(source.db.kysely);
  await sql`update participants set is_invited = true
    where recording_id = ${id} and position = 0`.execute(source.db.kysely);
  await sql`update transcript_segments set word_times = '{0,400,500,900}'
    where recording_id = ${id} and position = 0`.execute(source.db.kysely);
  return id;
}

const recordingId = await makeFullRecording();
await manage("PATCH", `/recordings/${recordingId}`, examplesOf(1));

type Rows = Record<string, Record<string, unknown>[]>;

/** All rows about a recording of the tables that are kept whole. */
async function rowsOf({ pool }: Database, id: string): Promise<Rows> {
  const found: Rows = {};
  for (const table of Object.keys(kept)) {
    const key = table === "recordings" ? "id" : "recording_id";
    const { rows } = await pool.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${table} t where ${key} = $1 order by to_jsonb(t) ->> 'position', t`,
      [id],
    );
    found[table] = rows.map(({ row }) => row);
  }
  return found;
}

/** The rows without what differs between two copies: ids are replaced by what they name. */
async function portableRows(db: Database, id: string): Promise<Rows> {
  const { rows: named } = await db.pool.query<{ id: string; name: string }>(
    `select id, email as name from users union all select id, name from teams union all
     select id, name || ' ' || scope from meeting_types union all
     select id, 'participant ' || position from participants where recording_id = $1`,
    [id],
  );
  const names = new Map(named.map((one) => [one.id, one.name]));
  const rename = (value: unknown): unknown => {
    if (typeof value === "string") return names.get(value) ?? value;
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rename(part)]));
  };
  const rows = await rowsOf(db, id);
  for (const item of (rows.recordings?.[0]?.ai_action_items ?? []) as Record<string, unknown>[])
    delete item.id;
  return Object.fromEntries(
    Object.entries(rows).map(([table, list]) => {
      const clean = list.map((row) =>
        Object.fromEntries(
          Object.entries(row)
            .filter(([name]) => !kept[table]?.includes(name))
            .map(([name, value]) => [name, rename(value)]),
        ),
      );
      return [table, clean.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))];
    }),
  );
}

test("every table about recordings is kept by an export, or named with the reason why not", async () => {
  const { rows } = await source.db.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = 'public' and column_name = 'recording_id'`,
  );
  const unnamed = rows.map(({ name }) => name).filter((name) => !(name in kept) && !other.includes(name));
  assert.deepEqual(unnamed, []);
});

test("the recording of these tests has a value in each column", async () => {
  for (const [table, rows] of Object.entries(await portableRows(source.db, recordingId))) {
    const names = new Set(rows.flatMap((row) => Object.keys(row)));
    assert.ok(names.size > 0, `${table} has no row`);
    for (const name of names) {
      const isGiven = rows.some(
        (row) => !["null", "false", '""', "[]", "{}"].includes(JSON.stringify(row[name])),
      );
      assert.ok(isGiven, `${table}.${name} has no value: no request can set it, or no example does`);
    }
  }
});

test("a change sets each field", () => assertShown(recordingId, 1));

test("an export and its import keep each value", async () => {
  const to = join(folder, "export");
  await exportWorkspace({ db: source.db, store: source.store, baseUrl: "http://parley.test" }, to, {
    workspace: { id: workspace.id, name: "Source" },
    vcon: false,
  });
  const target = await startTestApp();
  const twin = await makeTwin(target, { ...workspace, colleague });
  const from = await parleyFolder(to);
  const run = await insertRun(target.db.kysely, {
    ...{ workspaceId: twin.id, createdBy: twin.admin.id, source: from.kind, origin: from.origin },
    ...{ token: null, isDryRun: false },
  });
  assert.deepEqual(await runImport(target, run, from), { done: 1, failed: 0, pending: 0, omitted: {} });
  const { rows } = await target.db.pool.query<{ id: string }>("select id from recordings");
  assert.deepEqual(
    await portableRows(target.db, rows[0]?.id ?? ""),
    await portableRows(source.db, recordingId),
  );
});

test("an import from another Parley by its API keeps each field", async () => {
  const { recordings } = await grainSource();
  assert.equal(recordings.length, 1);
  for (const name of fieldNames) {
    const { examples, normalize } = recordingFields[name];
    assert.deepEqual(recordings[0]?.[name], normalize(examples[1]), `${name} is lost`);
  }
});

async function grainSource() {
  const from = await grain({ baseUrl: source.url, token: member.token, allowAddresses: "127.0.0.0/8,::1" });
  const recordings: Readonly<Record<string, unknown>>[] = [];
  for await (const item of from.list()) recordings.push((await item.load()).recording);
  return { recordings };
}

test("a backup and its restore keep every row", async () => {
  await adoptStore(source.db, source.store);
  const backup = await openPlainFolder(join(folder, "backup"));
  after(() => backup.close());
  const { host, port, user, password, database } = source.db.pool.options;
  const settings = { host, port, user, password, database };
  await createBackup({ db: source.db, store: source.store, config: source.config, settings }, backup);
  const empty = await createTestDatabase("template1");
  const dataDir = join(folder, "restored");
  const db = openDatabase(empty.settings, { applicationName: "parley tool", onError: () => {} });
  after(async () => {
    await db.close();
    await empty.drop();
  });
  await restoreBackup(
    backup,
    {
      ...{ db, store: await openLocalStore(dataDir), settings: empty.settings },
      config: readConfig({ PARLEY_DATA_DIR: dataDir, PARLEY_DATABASE_URL: empty.url }, dataDir),
      migrate: () => migrate(empty.settings),
    },
    { id: null, replace: false, acceptsMissing: false },
  );
  assert.deepEqual(await rowsOf(db, recordingId), await rowsOf(source.db, recordingId));
});
