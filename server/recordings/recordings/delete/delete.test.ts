import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import {
  insertHook,
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { keepDuringBackup } from "../../../operations/storage-maintenance/keep-during-backup.ts";
import { commandLine } from "../../../platform/audit/record.ts";
import { isBackupRunning, takeBackupLock } from "../../../platform/db/backup-lock.ts";
import { recordingObjectKey, uploadFileKey } from "../../../platform/storage/layout.ts";
import { transcribeRecordingJob } from "../../../processing/transcription/job.ts";
import { deleteRecording } from "../../trash/delete.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const stranger = await makeWorkspace(app.db);
const { pool } = app.db;
// Permanent deletion; server/recordings/trash/trash.test.ts tests the trash.
await pool.query("update workspaces set trash_days = 0 where id = $1", [workspace.id]);

/** Calls the management API, which has no versions. */
const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

const remove = (recordingId: string, token: string | null) =>
  manage("DELETE", `/recordings/${recordingId}`, token);

/** Waits until no worker holds a job about the upload: its last word may come after the recording. */
async function settleJobs(uploadId: string): Promise<void> {
  await until("the promotion job has ended", async () => {
    const { rows } = await pool.query("select 1 from jobs where key = $1", [uploadId]);
    return rows.length === 0;
  });
}

/** Every row of every table that mentions one of the ids, by table. */
async function mentions(ids: readonly string[]): Promise<Map<string, object[]>> {
  const { rows: columns } = await pool.query<{ table: string; column: string }>(
    `select format('%I.%I', c.table_schema, c.table_name) as table, c.column_name as column
     from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema not in ('pg_catalog', 'information_schema') and t.table_type = 'BASE TABLE'
       and c.udt_name in ('uuid', 'text', 'varchar', 'json', 'jsonb', '_uuid', '_text', 'bytea')`,
  );
  assert.ok(columns.length > 100, "the columns were found");
  const found = new Map<string, object[]>();
  for (const { table, column } of columns) {
    // It tells for good who saw, shared and deleted what, by ids alone: audit/recordings.test.ts.
    if (table === "public.audit_log") continue;
    const { rows } = await pool.query(`select * from ${table} where "${column}"::text ~ $1`, [ids.join("|")]);
    if (rows.length > 0) found.set(table, rows);
  }
  return found;
}

async function filesBelow(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of app.store.list(prefix)) keys.push(key);
  return keys;
}

interface Whole {
  readonly recordingId: string;
  readonly uploadId: string;
  readonly highlightId: string;
  readonly storyId: string;
  readonly sharedWith: string;
  readonly teamId: string;
}

/** A recording with something in every place where something can be. */
async function makeWhole(): Promise<Whole> {
  const shared = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace);
  const { recordingId, uploadId } = await makeRecording(app, member.token, {
    team_id: team.id,
    participants: [{ name: "Ida", speaker_key: "s1" }, { name: "Bo" }],
  });
  const put = { token: member.token };
  await call(app, "PUT", `/recordings/${recordingId}/users`, { user_id: shared.id }, put);
  await call(app, "PUT", `/recordings/${recordingId}/tags`, { tag: "x" }, put);
  const path = `/recordings/${recordingId}/highlights`;
  const clip = { text: "Look", timestamp: 0, duration: 1000 };
  const { body: early } = await manage("POST", path, member.token, clip);
  await manage("DELETE", `/highlights/${early.id}`, member.token);
  const { body: highlight } = await manage("POST", path, member.token, clip);
  const story = { title: "Launch", highlight_ids: [highlight.id] };
  const { body: made } = await manage("POST", "/stories", member.token, story);
  await pool.query("insert into private_notes values ($1, $2, 'mine')", [recordingId, member.id]);
  await pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)",
    [recordingId],
  );
  await pool.query("insert into transcriptions (recording_id, status) values ($1, 'done')", [recordingId]);
  await pool.query("insert into transcription_chunks values ($1, 0, 0, 1, null)", [recordingId]);
  // The promotion removes the upload's file at its end.
  await settleJobs(uploadId);
  for (const name of ["media.mp4", "thumbnail.jpg", "storyboard.json"])
    await app.store.put(recordingObjectKey(recordingId, name), Buffer.from("bytes"));
  await app.store.put(uploadFileKey(uploadId), Buffer.from("bytes"));
  return {
    recordingId,
    uploadId,
    highlightId: highlight.id,
    storyId: made.id,
    sharedWith: shared.id,
    teamId: team.id,
  };
}

/** Deliveries of every event of the recording, one of them sent. @returns the hook. */
async function makeDeliveries({ recordingId, uploadId }: Whole): Promise<string> {
  const { id: hookId } = await insertHook(app, {
    created_by: member.id,
    hook_type: "recording_added",
    disabled_at: new Date(),
  });
  await pool.query(
    `insert into deliveries (message_id, hook_id, event_id, event_type, subject_id, recording_id, payload, state, settled_at,
       first_at, first_ms, first_status, first_response)
     select gen_random_uuid(), $1, id, type, subject_id, recording_id, data::text || 'rendered',
       case type when 'recording_added' then 'delivered' else 'pending' end,
       case type when 'recording_added' then timestamptz '2026-01-01' end, now(), 1, 200, data::text
     from events where subject_id in ($2, $3) or recording_id = $2`,
    [hookId, recordingId, uploadId],
  );
  await pool.query(
    `insert into delivery_attempts (delivery_id, attempt, started_at, duration_ms, status, response, request_headers)
     select id, 2, now(), 1, 200, payload, '{}' from deliveries where hook_id = $1`,
    [hookId],
  );
  return hookId;
}

test("delete: takes everything along, says what, and leaves highlight_deleted and recording_deleted for those who saw it", async () => {
  const whole = await makeWhole();
  const { recordingId, uploadId, highlightId, storyId } = whole;
  const hookId = await makeDeliveries(whole);
  const other = await makeWhole();
  const ids = [recordingId, uploadId, highlightId];
  const { rows: people } = await pool.query("select id from participants where recording_id = $1", [
    recordingId,
  ]);
  const eventCount = await pool.query(
    "select count(*)::integer as n from events where recording_id = $1 or subject_id = any($2::uuid[])",
    [recordingId, ids],
  );

  const before = await filesBelow("");
  const { status, body } = await remove(recordingId, member.token);
  assert.equal(status, 200);
  assert.ok(Math.abs(Date.parse(body.deleted_datetime) - Date.now()) < 60_000);
  delete body.deleted_datetime;
  assert.equal(body.purge_datetime, null);
  delete body.purge_datetime;
  const { n } = eventCount.rows[0];
  assert.ok(n >= 9, `${n} events`);
  assert.deepEqual(body, {
    id: recordingId,
    removed: {
      recordings: 1,
      participants: 2,
      transcript_segments: 3,
      highlights: 1,
      private_notes: 1,
      transcript_edits: 0,
      uploads: 1,
      events: n,
      deliveries: n,
      objects: 4,
    },
    is_complete: true,
  });
  assert.equal((await filesBelow("")).length, before.length - 4);
  for (const prefix of [`recordings/${recordingId}/`, `uploads/${uploadId}/`])
    assert.deepEqual(await filesBelow(prefix), []);

  const left = await mentions([...ids, ...people.map((row) => row.id)]);
  assert.deepEqual([...left.keys()].sort(), ["public.deliveries", "public.events"]);
  const events = left.get("public.events") as { type: string; data: object; audience: string[] | null }[];
  assert.deepEqual(
    events.map(({ type, data }) => [type, data]),
    [
      ["highlight_deleted", { id: highlightId, recording_id: recordingId }],
      ["recording_deleted", { id: recordingId }],
    ],
  );
  for (const { audience } of events) {
    assert.deepEqual(audience?.toSorted(), [member.id, whole.sharedWith, whole.teamId, workspace.id].sort());
  }
  await checkDeliveries(hookId, n);

  const story = await manage("GET", `/stories/${storyId}`, member.token);
  assert.deepEqual(story.body.highlights, []);
  const { rows: told } = await pool.query("select type from events where subject_id = $1 order by id", [
    storyId,
  ]);
  assert.deepEqual(
    told.map((event) => event.type),
    ["story_added", "story_updated"],
  );
  const gone = [
    await call(app, "POST", `/recordings/${recordingId}`, {}, { token: workspace.token }),
    await call(app, "POST", `/uploads/${uploadId}`, {}, { token: member.token }),
    await manage("GET", `/highlights/${highlightId}`, workspace.token),
    await remove(recordingId, workspace.token),
  ];
  assert.deepEqual(
    gone.map((answer) => answer.status),
    [404, 404, 404, 404],
  );
  await checkUntouched(other);
});

/** The log keeps that something was sent, and nothing of what. */
async function checkDeliveries(hookId: string, count: number): Promise<void> {
  const { rows } = await pool.query(
    `select d.state, d.payload, d.settled_at, d.event_id, a.response, d.first_response
     from deliveries d join delivery_attempts a on a.delivery_id = d.id where hook_id = $1`,
    [hookId],
  );
  assert.equal(rows.length, count);
  for (const { state, payload, settled_at, event_id, response, first_response } of rows) {
    assert.deepEqual([payload, event_id, response, first_response], [null, null, null, null]);
    assert.ok(settled_at !== null);
    if (state === "delivered") assert.equal(settled_at.getUTCMonth(), 0);
    else assert.equal(state, "withheld");
  }
  assert.deepEqual([...new Set(rows.map((row) => row.state))].sort(), ["delivered", "withheld"]);
}

async function checkUntouched({ recordingId, uploadId, highlightId }: Whole): Promise<void> {
  assert.equal((await filesBelow(`recordings/${recordingId}/`)).length, 3);
  assert.equal((await filesBelow(`uploads/${uploadId}/`)).length, 1);
  const found = [
    await call(app, "GET", `/recordings/${recordingId}/transcript`, undefined, { token: member.token }),
    await manage("GET", `/highlights/${highlightId}`, member.token),
  ];
  assert.deepEqual(
    found.map((answer) => answer.status),
    [200, 200],
  );
}

test("rights: recorders, admins who see it and workspace tokens; others are refused or learn nothing", async () => {
  const participant = await makeUser(app.db, workspace);
  const shared = await makeUser(app.db, workspace);
  const colleague = await makeUser(app.db, workspace);
  for (const [who, token, expected] of [
    ["the recorder", member.token, 200],
    ["an admin who sees it", admin.token, 200],
    ["a workspace token", workspace.token, 200],
    ["a participant", participant.token, 403],
    ["a user it is shared with", shared.token, 403],
    ["a colleague", colleague.token, 404],
    ["another workspace", stranger.token, 404],
    ["an admin of another workspace", stranger.admin.token, 404],
    ["nobody", null, 401],
    ["a wrong token", "parley_pat_x", 401],
  ] as const) {
    const { recordingId } = await makeRecording(app, member.token, {
      participants: [{ email: participant.email }],
    });
    for (const user of [shared, admin])
      await call(
        app,
        "PUT",
        `/recordings/${recordingId}/users`,
        { user_id: user.id },
        { token: member.token },
      );
    const { status, body } = await remove(recordingId, token);
    assert.equal(status, expected, who);
    if (status === 403) assert.match(body.detail, /may delete it$/);
    const still = await call(app, "POST", `/recordings/${recordingId}`, {}, { token: workspace.token });
    assert.equal(still.status, expected === 200 ? 404 : 200, who);
  }
  for (const id of [unknownId(), "nonsense"]) assert.equal((await remove(id, member.token)).status, 404);
});

test("at the same time: one deletes, the other learns that it is gone, and there is one event", async () => {
  const { recordingId } = await makeWhole();
  const clip = { text: "Look", timestamp: 0, duration: 1000 };
  const statuses = await Promise.all([
    ...Array.from({ length: 4 }, () => remove(recordingId, member.token)),
    ...Array.from({ length: 4 }, () =>
      manage("POST", `/recordings/${recordingId}/highlights`, member.token, clip),
    ),
  ]);
  const deletions = statuses.slice(0, 4).map((answer) => answer.status);
  assert.deepEqual(deletions.sort(), [200, 404, 404, 404]);
  for (const answer of statuses.slice(4)) assert.ok([200, 404].includes(answer.status), answer.text);
  const { rows } = await pool.query(
    "select type from events where subject_id = $1 or recording_id = $1 and type not like 'highlight%'",
    [recordingId],
  );
  assert.deepEqual(rows, [{ type: "recording_deleted" }]);
});

test("files: when the store fails the recording is deleted all the same, and the receipt says what is left", async () => {
  const { recordingId } = await makeWhole();
  const failures: unknown[] = [];
  const store = {
    ...app.store,
    list: (prefix: string) => app.store.list(prefix),
    delete: async () => {
      throw new Error("the disk is on fire");
    },
  };
  const principal = {
    tokenId: unknownId(),
    tokenType: "workspace_access_token",
    scope: "workspace",
    workspaceId: workspace.id,
    userId: admin.id,
    role: "admin",
    emailKey: admin.email,
    name: "w",
    expiresAt: null,
    sees: [workspace.id],
  } as const;
  const deps = { db: app.db, store, onError: (error: unknown) => failures.push(error) };
  const receipt = await deleteRecording(deps, principal, recordingId, commandLine(workspace.id));
  assert.deepEqual([receipt.is_complete, receipt.removed.objects, failures.length], [false, 0, 1]);
  assert.equal((await remove(recordingId, member.token)).status, 404);
});

test("files: while a backup runs they stay for it, and the receipt says that they are left", async () => {
  const { recordingId } = await makeWhole();
  const key = recordingObjectKey(recordingId, "media.mp4");
  const kept = keepDuringBackup(app.store, pool);
  const backup = await pool.connect();
  try {
    assert.equal(await takeBackupLock(backup), true);
    const { body: receipt } = await remove(recordingId, member.token);
    assert.deepEqual([receipt.is_complete, receipt.removed.objects], [false, 0]);
    await kept.delete(key);
    await kept.put(key, Buffer.alloc(0));
    assert.ok(((await app.store.head(key))?.size ?? 0) > 0);
  } finally {
    // Closed, so that the lock ends with the session.
    backup.release(true);
  }
  await until("the lock has ended", async () => !(await isBackupRunning(pool)));
  await kept.delete(key);
  assert.equal(await app.store.head(key), null);
});

test("jobs: a transcription and a promotion that run meanwhile end quietly and write nothing", async () => {
  const { recordingId, uploadId } = await makeWhole();
  await pool.query("delete from transcription_chunks where recording_id = $1", [recordingId]);
  await pool.query("delete from transcript_segments where recording_id = $1", [recordingId]);
  await pool.query("update recordings set transcript_language = null where id = $1", [recordingId]);
  await pool.query("update transcriptions set status = 'pending' where recording_id = $1", [recordingId]);
  let isDeleted = false;
  await transcribeRecordingJob(
    {
      db: app.db,
      store: app.store,
      config: app.config,
      log: { info() {}, warn() {} },
      transcriber: {
        transcribe: async () => {
          throw new Error("nothing is left to transcribe");
        },
      },
      extractSpeech: async () => {
        isDeleted = (await remove(recordingId, member.token)).status === 200;
        return { durationMs: 1000, chunks: [{ path: "none.wav", startMs: 0, endMs: 1000 }] };
      },
    },
    recordingId,
  );
  assert.ok(isDeleted);
  assert.deepEqual([...(await mentions([recordingId, uploadId])).keys()], ["public.events"]);

  for (const name of ["promote_upload", "validate_upload", "promote_media"] as const)
    await app.db.kysely.transaction().execute((tx) => app.jobs.enqueue(tx, name, { uploadId }, uploadId));
  app.jobs.wake();
  await until("the jobs have ended without an error", async () => {
    const { rows } = await pool.query("select error from jobs where key = $1", [uploadId]);
    for (const { error } of rows) assert.equal(error, null);
    return rows.length === 0;
  });
  assert.deepEqual([...(await mentions([recordingId, uploadId])).keys()], ["public.events"]);
});
