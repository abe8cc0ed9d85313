import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace, type TestWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { removeOrphans } from "../../../operations/storage-maintenance/orphans.ts";
import { enqueueMail } from "../../../people/accounts/one-time-links/mailer.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { promoteUploadJob } from "../../../processing/uploads/promotion/promote.ts";
import { exists, filesBelow, manage } from "../test/retention.ts";
import { erasePersonJob } from "./erase-user.ts";

// Without a worker: the tests run the jobs when they want them.
const app = await startTestApp({ worker: false });
const { db, config } = app;
const { pool } = db;
const log = pino({ level: "silent" });
const deps = { db, jobs: app.jobs, store: app.store, encryptor: app.encryptor, config, log };
const email = "zora@elsewhere.example";

/** A transcript in which she speaks, as a recording or on its way to be one. */
async function makeUpload({ member }: TestWorkspace, person = email): Promise<string> {
  const { body, text } = await call(
    app,
    "POST",
    "/uploads/create",
    {
      media_type: "transcript",
      attributes: {
        title: "Meeting",
        participants: [{ name: "Zora", email: person, speaker_key: "z" }],
        transcript: {
          language: "en",
          segments: [{ speaker_key: "z", start: 0, end: 1000, text: "Axolotl" }],
        },
      },
    },
    { token: member.token },
  );
  assert.ok(body.id, text);
  return body.id;
}

async function makeRecording(workspace: TestWorkspace, person = email): Promise<string> {
  const uploadId = await makeUpload(workspace, person);
  await promoteUploadJob({ db, jobs: app.jobs, config }, uploadId);
  const { rows } = await pool.query("select recording_id from uploads where id = $1", [uploadId]);
  return rows[0].recording_id;
}

async function ask({ admin }: TestWorkspace, recordings = "anonymise"): Promise<string> {
  const { status, body, text } = await manage(app, "POST", "/erasures", admin.token, { email, recordings });
  assert.equal(status, 200, text);
  assert.deepEqual([body.status, body.finished_datetime], ["pending", null]);
  return body.id;
}

const erasureOf = async ({ admin }: TestWorkspace, id: string) =>
  (await manage(app, "GET", `/erasures/${id}`, admin.token)).body;

/** How many of these recordings still say who she is. */
async function countSpeaking(ids: readonly string[]): Promise<number> {
  const { rows } = await pool.query(
    `select count(distinct r)::integer as n from unnest($1::uuid[]) r
     where exists (select 1 from participants p where p.recording_id = r and p.email is not null)
       or exists (select 1 from transcript_segments s where s.recording_id = r and s.text = 'Axolotl')`,
    [ids],
  );
  return rows[0].n;
}

/** A process that dies after so many recordings. */
const dyingAfter = (count: number) => {
  let left = count;
  const wake = () => {
    left -= 1;
    if (left <= 0) throw new Error("killed");
  };
  return { ...deps, jobs: { ...app.jobs, wake } };
};

test("a killed erasure resumes and counts each recording once", async () => {
  const workspace = await makeWorkspace(db);
  const ids = [
    await makeRecording(workspace),
    await makeRecording(workspace),
    await makeRecording(workspace),
  ];
  const id = await ask(workspace);
  await assert.rejects(erasePersonJob(dyingAfter(2), id), /killed/);
  assert.equal(await countSpeaking(ids), 1);
  const half = await erasureOf(workspace, id);
  assert.deepEqual([half.status, half.receipt.recordings_anonymised], ["running", 2]);
  await erasePersonJob(deps, id);
  const { status, receipt } = await erasureOf(workspace, id);
  assert.deepEqual([status, receipt.recordings_anonymised, receipt.segments_erased], ["done", 3, 3]);
  assert.equal(await countSpeaking(ids), 0);
  const { rows } = await pool.query("select person from erasures where id = $1", [id]);
  assert.deepEqual(rows, [{ person: null }]);
  await erasePersonJob(deps, id);
  assert.deepEqual((await erasureOf(workspace, id)).receipt, receipt, "once more changes nothing");
});

test("two workers at once count each recording once", async () => {
  const workspace = await makeWorkspace(db);
  const ids = await Promise.all(Array.from({ length: 8 }, () => makeRecording(workspace)));
  await makeUpload(workspace);
  const id = await ask(workspace);
  await Promise.all([erasePersonJob(deps, id), erasePersonJob(deps, id)]);
  const { status, receipt } = await erasureOf(workspace, id);
  assert.deepEqual([status, receipt.recordings_anonymised, receipt.segments_erased], ["done", 8, 8]);
  assert.equal(receipt.uploads_changed, 9);
  assert.equal(await countSpeaking(ids), 0);
});

test("recordings: delete removes whole recordings, including the files of one during which it was killed", async () => {
  const workspace = await makeWorkspace(db);
  const ids = [await makeRecording(workspace), await makeRecording(workspace)];
  const other = await makeRecording(workspace, "somebody@elsewhere.example");
  for (const id of [...ids, other])
    await app.store.put(recordingObjectKey(id, "media.mp4"), Buffer.from("bytes"));
  const id = await ask(workspace, "delete");
  await assert.rejects(erasePersonJob(dyingAfter(1), id), /killed/);
  await erasePersonJob(deps, id);
  const { status, receipt } = await erasureOf(workspace, id);
  assert.deepEqual([status, receipt.recordings_deleted, receipt.recordings_anonymised], ["done", 2, 0]);
  for (const gone of ids) assert.equal(await exists(app, gone), false);
  await removeOrphans(db, app.store, log);
  const left = await filesBelow(app, "recordings/");
  assert.ok(left.every((key) => !ids.some((gone) => key.includes(gone))));
  assert.ok(left.some((key) => key.includes(other)));
  const { rows } = await pool.query(
    "select subject_id from events where type = 'recording_deleted' and subject_id = any($1::uuid[]) order by 1",
    [ids],
  );
  assert.deepEqual(
    rows.map((row) => row.subject_id),
    ids.toSorted(),
  );
});

test("recordings on legal hold stay unchanged and are listed, others are processed", async () => {
  const workspace = await makeWorkspace(db);
  const [held, free] = [await makeRecording(workspace), await makeRecording(workspace)];
  const path = `/recordings/${held}/legal-hold`;
  assert.equal((await manage(app, "PUT", path, workspace.admin.token, { reason: "x" })).status, 200);
  for (const recordings of ["anonymise", "delete"]) {
    const id = await ask(workspace, recordings);
    await erasePersonJob(deps, id);
    const { status, receipt } = await erasureOf(workspace, id);
    assert.deepEqual([status, receipt.held], ["done", [held]]);
  }
  assert.deepEqual([await countSpeaking([held]), await countSpeaking([free])], [1, 0]);
  assert.equal((await manage(app, "DELETE", path, workspace.admin.token)).status, 200);
  await erasePersonJob(deps, await ask(workspace));
  assert.equal(await countSpeaking([held]), 0, "asked for again after the release");
});

test("voice profiles without an email are erased with recordings that are deleted or on legal hold", async () => {
  for (const isHeld of [false, true]) {
    const workspace = await makeWorkspace(db);
    const recording = await makeRecording(workspace);
    const path = `/recordings/${recording}/legal-hold`;
    if (isHeld)
      assert.equal((await manage(app, "PUT", path, workspace.admin.token, { reason: "x" })).status, 200);
    for (const name of ["ZORA", "Ben"])
      await pool.query(
        `insert into voice_profiles (id, workspace_id, name, embedding, model, consented_by)
         values (gen_random_uuid(), $1, $2, '{1}', 'm', $3)`,
        [workspace.id, name, workspace.admin.id],
      );
    const id = await ask(workspace, "delete");
    await erasePersonJob(deps, id);
    const { receipt } = await erasureOf(workspace, id);
    assert.deepEqual(
      [receipt.voice_profiles_erased, receipt.held, receipt.recordings_deleted],
      [1, isHeld ? [recording] : [], isHeld ? 0 : 1],
    );
    const { rows } = await pool.query("select name from voice_profiles where workspace_id = $1", [
      workspace.id,
    ]);
    assert.deepEqual(rows, [{ name: "Ben" }]);
  }
});

test("the names a finished transcription was given are erased", async () => {
  const workspace = await makeWorkspace(db);
  const recording = await makeRecording(workspace);
  await pool.query(
    `insert into transcriptions (recording_id, status, written_version, used)
     values ($1, 'done', 1, '{"model": "m", "language": null, "vocabulary": ["Zora"]}')`,
    [recording],
  );
  const read = async () =>
    (await manage(app, "GET", `/recordings/${recording}/transcript/edits`, workspace.member.token)).body;
  assert.deepEqual((await read()).transcribed_with?.vocabulary, ["Zora"]);
  await erasePersonJob(deps, await ask(workspace));
  assert.equal((await read()).transcribed_with, null);
});

test("an import that waits keeps no AI output, notes and shares of the person", async () => {
  const workspace = await makeWorkspace(db);
  const her = await makeUser(db, workspace, { email: `zora@${workspace.domain}` });
  const upload = await makeUpload(workspace, her.email);
  const highlight = { start_ms: 0, duration_ms: 1, tags: [], created_at: new Date(), created_by: null };
  const moved = {
    ...{ meeting_type_id: null, meeting_type_by_hand: false, ai_summary: "Axolotl", ai_action_items: [] },
    ...{ ai_template_sections: [{ text: "Axolotl" }], word_times: [[0, 1]], speakers: { k: "ZORA" } },
    highlights: [{ ...highlight, text: "Axolotl" }],
    shared_user_ids: [her.id, workspace.admin.id],
    private_notes: [
      { user_id: her.id, text: "Axolotl" },
      { user_id: workspace.admin.id, text: "Walrus" },
    ],
  };
  await pool.query(
    `update uploads set created_by = $3, scope = 'personal',
       import_data = jsonb_build_object('moved', $2::jsonb, 'notes', 'Axolotl') where id = $1`,
    [upload, JSON.stringify(moved), her.id],
  );
  const { body } = await manage(app, "POST", "/erasures", workspace.admin.token, { email: her.email });
  await erasePersonJob(deps, body.id);
  const { rows } = await pool.query(
    "select import_data -> 'moved' as moved, import_data ->> 'notes' as notes from uploads where id = $1",
    [upload],
  );
  assert.doesNotMatch(JSON.stringify(rows), /axolotl|zora/i);
  assert.deepEqual(
    [rows[0].moved.shared_user_ids, rows[0].moved.private_notes, rows[0].moved.word_times],
    [[workspace.admin.id], [{ user_id: workspace.admin.id, text: "Walrus" }], null],
  );
});

test("an import that waits, or was converted before the erasure, brings no comment, mention or reaction of the user", async () => {
  const workspace = await makeWorkspace(db);
  const { admin } = workspace;
  const her = await makeUser(db, workspace, { email: `zora@${workspace.domain}`, name: "Zora" });
  const comment = {
    ...{ parent: null, user_id: her.id, text: "Axolotl", timestamp: 0, mentioned_ids: [], reactions: [] },
    ...{ created_at: "2026-01-05T09:00:00Z", edited_at: null, resolved_at: null, resolved_by: null },
  };
  const comments = [
    { ...comment, resolved_at: comment.created_at, resolved_by: her.id },
    {
      ...{ ...comment, parent: 0, user_id: admin.id, text: "@Zora, no", mentioned_ids: [her.id] },
      reactions: [
        { emoji: "🎉", user_id: her.id },
        { emoji: "🎉", user_id: admin.id },
      ],
    },
    comment,
    { ...comment, user_id: admin.id, text: "Walrus" },
  ];
  const moved = {
    ...{ meeting_type_id: null, meeting_type_by_hand: false, ai_summary: null, ai_action_items: [] },
    ...{ ai_template_sections: [], word_times: null, speakers: {}, highlights: [] },
    ...{ shared_user_ids: [], private_notes: [], comments },
  };
  // She is a participant of none of them.
  const uploads = [await makeUpload(workspace), await makeUpload(workspace)];
  const bring = (upload: string | undefined) =>
    pool.query("update uploads set import_data = $2 where id = $1", [
      upload,
      JSON.stringify({ screenshares: [], team_ids: [], moved }),
    ]);
  await bring(uploads[0]);
  const { body } = await manage(app, "POST", "/erasures", admin.token, { email: her.email });
  await erasePersonJob(deps, body.id);
  const { rows } = await pool.query("select import_data -> 'moved' as moved from uploads where id = $1", [
    uploads[0],
  ]);
  const waiting = JSON.stringify(rows[0].moved.comments);
  assert.doesNotMatch(waiting, /axolotl|zora/i);
  assert.equal(waiting.includes(her.id), false);
  await bring(uploads[1]);
  const imported = [];
  for (const upload of uploads) {
    await promoteUploadJob({ db, jobs: app.jobs, config }, upload);
    const found = await pool.query(
      `select c.user_id, c.text, c.resolved_by, (select array_agg(user_id) from comment_mentions where comment_id = c.id) as mentioned,
         (select array_agg(user_id) from comment_reactions where comment_id = c.id) as reacted
       from comments c join uploads u on u.recording_id = c.recording_id where u.id = $1 order by c.text collate "C"`,
      [upload],
    );
    imported.push(found.rows.map((row) => Object.values(row)));
  }
  const expected = (reply: string) => [
    [null, "", null, null, null],
    [admin.id, reply, null, null, [admin.id]],
    [admin.id, "Walrus", null, null, null],
  ];
  assert.deepEqual(imported, [expected("@a deleted user, no"), expected("@Zora, no")]);
});

test("an event of a connection that waits keeps no email of the person", async () => {
  const workspace = await makeWorkspace(db);
  const body = { kind: "zoom", name: "Zoom", webhook_secret: "s" };
  const { body: connection } = await manage(app, "POST", "/connections", workspace.admin.token, body);
  const payload = app.encryptor.encrypt(
    JSON.stringify({ topic: "Meeting", host_email: email.toUpperCase() }),
  );
  await pool.query(
    `insert into connection_events (id, connection_id, event_key, meeting_key, type, payload)
     values (gen_random_uuid(), $1, '', '', 'recording.completed', $2)`,
    [connection.id, payload],
  );
  await erasePersonJob(deps, await ask(workspace));
  const { rows } = await pool.query("select payload from connection_events where connection_id = $1", [
    connection.id,
  ]);
  assert.deepEqual(JSON.parse(app.encryptor.decrypt(rows[0].payload)), {
    topic: "Meeting",
    host_email: null,
  });
});

test("a watched file that failed keeps no name of the person, and files of others keep theirs", async () => {
  const workspace = await makeWorkspace(db);
  const recording = await makeRecording(workspace);
  await pool.query("update participants set name = 'Li Max' where recording_id = $1 and email = $2", [
    recording,
    email,
  ]);
  const theirs = [
    [`Talk with ${email.toUpperCase()}.mp4`, "…"],
    ["li_max.mp4", "…"],
    ["limax.mp4", "…"],
    ["audioLiMax123.m4a", "…"],
    ["2026/Li-Max/zoom.mp4", "…"],
  ] as const;
  const others = [`a${email}.mp4`, "climax.mp4", "maximum of 4 h.mp4", "Board.mp4"];
  const insert = (path: string, error: string) =>
    pool.query(
      `insert into watched_files (workspace_id, path_hash, folder, path, mark, state, error)
       values ($1, sha256($2::bytea), '/watched', $3, '', 'failed', $4)`,
      [workspace.id, Buffer.from(path), path, error],
    );
  for (const path of [...theirs.map(([path]) => path), ...others])
    await insert(path, `/watched/${path} is damaged`);
  await insert("Tracks.mp4", "/watched/audioLiMax1.m4a is empty");
  await erasePersonJob(deps, await ask(workspace));
  const { rows } = await pool.query(
    "select path, error from watched_files where workspace_id = $1 order by path nulls last",
    [workspace.id],
  );
  assert.deepEqual(
    rows,
    [
      ...others.map((path) => ({ path, error: `/watched/${path} is damaged` })),
      { path: "Tracks.mp4", error: null },
    ]
      .sort((a, b) => (a.path < b.path ? -1 : 1))
      .concat(theirs.map(([, error]) => ({ path: null as never, error: `/watched/${error} is damaged` }))),
  );
});

test("the failed watched files are read once for each name, not for each recording", async () => {
  const workspace = await makeWorkspace(db);
  for (let count = 0; count < 4; count += 1) await makeRecording(workspace);
  const id = await ask(workspace);
  let reads = 0;
  const kysely = db.kysely.withPlugin({
    transformQuery({ node }) {
      if (node.kind === "SelectQueryNode" && JSON.stringify(node.from).includes("watched_files")) reads += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await erasePersonJob({ ...deps, db: { ...db, kysely } }, id);
  assert.equal(reads, 2, "for the name, and at the end");
});

test("emails to users whose email contains the person's are still sent", async () => {
  const workspace = await makeWorkspace(db);
  const about = (text: string) => `Ada (${text}) requests access to the recording`;
  const mails = [
    ["theirs", email.toUpperCase(), "Hello"],
    ["theirs", "ada@example.com", about(email)],
    ["theirs", "ada@example.com", `It was shared by ${email}.`],
    ["others", `a${email}`, "Hello"],
    ["others", `${email}.au`, "Hello"],
    ["others", "ada@example.com", about(`a${email}`)],
    ["others", "ada@example.com", about(`${email}.au`)],
  ] as const;
  for (const [subject, to, text] of mails)
    await db.kysely
      .transaction()
      .execute((tx) =>
        enqueueMail(
          tx,
          app,
          { to, subject, text, expiresAtMs: Date.now() + 60_000 },
          { kind: "invitation", workspaceId: null },
        ),
      );
  await erasePersonJob(deps, await ask(workspace));
  const { rows } = await pool.query("select data ->> 'encrypted' as mail from jobs where name = 'send_mail'");
  const left = rows.map(({ mail }) => JSON.parse(app.encryptor.decrypt(Buffer.from(mail, "base64"))).mail);
  assert.deepEqual(
    left.map(({ subject }) => subject),
    ["others", "others", "others", "others"],
  );
});

test("a hold placed while the erasure waits for the recording is respected", async () => {
  const workspace = await makeWorkspace(db);
  const id = await makeRecording(workspace);
  const erasure = await ask(workspace, "delete");
  const client = await pool.connect();
  await client.query("begin");
  await client.query("select 1 from recordings where id = $1 for update", [id]);
  const done = erasePersonJob(deps, erasure);
  await until("the job waits for the recording", async () => {
    const { rows } = await pool.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    return rows.length > 0;
  });
  await client.query("insert into legal_holds values ($1, $2, 'x', $3)", [
    id,
    workspace.id,
    workspace.admin.id,
  ]);
  await client.query("commit");
  client.release();
  await done;
  assert.deepEqual((await erasureOf(workspace, erasure)).receipt.held, [id]);
  assert.ok(await exists(app, id));
});

test("an upload promoted during the erasure becomes a recording without the person", async () => {
  const workspace = await makeWorkspace(db);
  const uploads = [await makeUpload(workspace), await makeUpload(workspace)];
  const id = await ask(workspace);
  const promote = (uploadId: string) => promoteUploadJob({ db, jobs: app.jobs, config }, uploadId);
  const [early = "", late = ""] = uploads;
  await Promise.all([promote(early), erasePersonJob(deps, id)]);
  await promote(late);
  const { rows } = await pool.query("select recording_id as id from uploads where workspace_id = $1", [
    workspace.id,
  ]);
  assert.equal(rows.length, 2);
  assert.equal(await countSpeaking(rows.map((row) => row.id)), 0);
  const { rows: left } = await pool.query(
    `select 1 from uploads u left join upload_transcripts t on t.upload_id = u.id
     where u.workspace_id = $1 and (u.participants::text ~ 'zora@' or t.segments::text ~ 'Axolotl')`,
    [workspace.id],
  );
  assert.equal(left.length, 0);
});

test("another workspace keeps its data about the same person", async () => {
  const [workspace, other] = [await makeWorkspace(db), await makeWorkspace(db)];
  const [theirs, upload] = [await makeRecording(other), await makeUpload(other)];
  await erasePersonJob(deps, await ask(workspace));
  assert.equal(await countSpeaking([theirs]), 1);
  const { rows } = await pool.query(
    "select participants -> 0 ->> 'email' as email from uploads where id = $1",
    [upload],
  );
  assert.deepEqual(rows, [{ email }]);
  const id = await ask(workspace);
  assert.equal((await manage(app, "GET", `/erasures/${id}`, other.admin.token)).status, 404);
});

test("users can't erase themselves or the last active admin; what the erased user created stays", async () => {
  const workspace = await makeWorkspace(db);
  const { admin } = workspace;
  const erase = (by: string, of: string) => manage(app, "POST", "/erasures", by, { email: of });
  const own = await erase(admin.token, admin.email.toUpperCase());
  assert.deepEqual([own.status, own.body.error], [409, "wrong_state"]);
  const second = await makeUser(db, workspace, { role: "admin" });
  const rule = { name: "r", older_than_days: 9000 };
  const made = await manage(app, "POST", "/retention/rules", second.token, rule);
  assert.equal(made.status, 200, made.text);
  assert.equal((await erase(admin.token, second.email)).status, 200);
  const read = (token: string) => manage(app, "GET", "/retention/rules", token);
  assert.equal((await read(second.token)).status, 401, "at once, before the job runs");
  assert.equal((await read(admin.token)).body.rules[0].id, made.body.id);

  // At the same time, two admins erase each other: one stays.
  const third = await makeUser(db, workspace, { role: "admin" });
  const client = await pool.connect();
  await client.query("begin");
  await client.query("select 1 from workspaces where id = $1 for update", [workspace.id]);
  const both = Promise.all([erase(admin.token, third.email), erase(third.token, admin.email)]);
  await until("both wait for the membership", async () => {
    const { rows } = await pool.query(
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    );
    return rows.length === 2;
  });
  await client.query("commit");
  client.release();
  const answers = (await both).toSorted((a, b) => a.status - b.status);
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error]),
    [
      [200, undefined],
      [409, "wrong_state"],
    ],
  );
  const { rows } = await pool.query(
    "select count(*)::integer as n from users where workspace_id = $1 and role = 'admin' and deactivated_at is null",
    [workspace.id],
  );
  assert.deepEqual(rows, [{ n: 1 }]);
});
