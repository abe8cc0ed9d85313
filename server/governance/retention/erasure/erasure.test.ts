import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import {
  insertHook,
  makeTeam,
  makeUser,
  makeWorkspace,
  waitForRecording,
} from "../../../../test/support/factories.ts";
import { makeClient } from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { createSession } from "../../../people/accounts/sign-in/sessions.ts";
import { keyOf, rememberIpPrefix } from "../../../people/accounts/sign-in/throttle.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { saveStep } from "../../../processing/intelligence/queries.ts";
import { verify } from "../../audit/test/audit.ts";
import { dumpDatabase, manage } from "../test/retention.ts";

// Nobody takes mail at this address, so it stays in the queue.
const app = await startTestApp({
  env: { PARLEY_SMTP_URL: "smtp://127.0.0.1:1", PARLEY_SMTP_FROM: "parley@parley.test" },
});
const { db } = app;
const { pool } = db;
const workspace = await makeWorkspace(db);
const { admin, member: bob } = workspace;
const email = `Zora.Quimby@${workspace.domain}`;
const zora = await makeUser(db, workspace, { email, name: "Zora Quimby" });
const agent = { "user-agent": "ZoraBrowser/7.1" };
const address = "203.0.113.177";

/** Anything of her that could be anywhere, in lower case. */
const traces = {
  email: "zora.quimby@",
  "first name": "zora",
  "last name": "quimby",
  "former last name": "featherstone",
  phone: "5550199",
  "what she said": "axolotl",
  "what she said before it was edited": "pangolin",
  "what she said in an upload": "okapi",
  "her private note": "narwhal",
  "her contact in the CRM": "crm-0815",
  "her browser": "zorabrowser",
  "her address": address,
  "her subject at the provider": "subject-31337",
} as const;

async function tracesIn(): Promise<string[]> {
  const rows = (await dumpDatabase(app)).toLowerCase();
  return Object.entries(traces)
    .filter(([, trace]) => rows.includes(trace))
    .map(([name]) => name);
}

const by = (token: string, method: string, path: string, body?: unknown) =>
  manage(app, method, path, token, body).then((answer) => {
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  });

const participants = [
  {
    name: "Zora Quimby",
    email: email.toLowerCase(),
    phone: "+49 30 5550199",
    crm_contact_id: "crm-0815",
    speaker_key: "zora.quimby@x",
    observed_join_time: "2026-01-05T09:00:00Z",
  },
  { name: "Bob", speaker_key: "bob" },
];
const transcript = {
  language: "en",
  segments: [
    { speaker_key: "zora.quimby@x", start: 0, end: 4000, text: "The pangolin budget." },
    { speaker_key: "bob", start: 4000, end: 8000, text: "Walrus, as always." },
    { speaker_key: "nobody", start: 8000, end: 9000, text: "An axolotl too." },
    { speaker_key: "stranger", start: 9000, end: 9500, text: "Goodbye." },
  ],
};

/** An account with something in every place. */
async function fillAccount(): Promise<void> {
  await by(admin.token, "PATCH", `/users/${zora.id}`, { name: "Zora Featherstone" });
  await by(admin.token, "PATCH", `/users/${zora.id}`, { name: "Zora Quimby" });
  await makeTeam(db, workspace, [zora]);
  await by(zora.token, "POST", "/tokens", { type: "personal_access_token", name: "Zora Quimby's laptop" });
  await by(admin.token, "POST", `/users/${zora.id}/password-reset-link`);
  const client = await makeClient(app, workspace);
  await pool.query("insert into oauth_grants (id, client_id, user_id) values ($1, $2, $3)", [
    randomUUID(),
    client.id,
    zora.id,
  ]);
  await pool.query("insert into identities values ('https://id.example', 'subject-31337', $1)", [zora.id]);
  await db.kysely.transaction().execute(async (tx) => {
    await createSession(tx, {
      userId: zora.id,
      method: "password",
      ip: address,
      userAgent: agent["user-agent"],
    });
    await rememberIpPrefix(tx, email.toLowerCase(), address);
    const asked = { email: email.toLowerCase(), ip: address, userAgent: agent["user-agent"] };
    await app.jobs.enqueue(tx, "request_password_reset", asked, randomUUID());
    const actor = {
      workspaceId: workspace.id,
      userId: zora.id,
      userEmail: email.toLowerCase(),
      credential: "session" as const,
      credentialId: null,
      ip: address,
      userAgent: null,
    };
    await app.jobs.enqueue(tx, "request_access", { wantedId: randomUUID(), actor }, randomUUID());
  });
  await insertHook(app, {
    created_by: zora.id,
    scope: "personal",
    hook_url: "https://receiver.example/zora",
    hook_type: "upload_added",
    disabled_at: new Date(),
  });
}

/** A recording that she took part in, with all that can be known of it. */
async function fillRecording(): Promise<string> {
  const { id } = await by(bob.token, "POST", "/recordings", {
    title: "Budget",
    participants,
    transcript,
    recorder_ids: [bob.id, zora.id],
    crm: { crm_company_ids: ["company-1"], crm_deal_ids: [] },
  });
  const recordingId = await waitForRecording(app, bob.token, id);
  const path = `/recordings/${recordingId}`;
  const version = async () => (await by(bob.token, "GET", `${path}/transcript`)).transcript_version;
  await by(bob.token, "POST", `${path}/transcript/corrections`, {
    transcript_version: await version(),
    segments: [{ index: 0, text: "The axolotl budget." }],
  });
  await by(bob.token, "POST", `${path}/transcript/speakers/rename`, {
    transcript_version: await version(),
    speaker: { name: "Unknown Speaker 1" },
    name: "ZORA QUIMBY",
  });
  await by(bob.token, "POST", `${path}/highlights`, { text: "The point", timestamp: 0, duration: 2000 });
  await by(bob.token, "POST", `${path}/highlights`, { text: "The end", timestamp: 9100, duration: 300 });
  await by(zora.token, "PUT", `${path}/private_notes`, { text: "narwhal" });
  await call(app, "PUT", `/recordings/${recordingId}/users`, { user_id: zora.id }, { token: bob.token });
  await call(app, "POST", `/recordings/${recordingId}`, {}, { token: zora.token, headers: agent });
  await pool.query(
    `update recordings set title = 'Zora Quimby and Bob', default_title = 'Budget', ai_summary = 'Zora wants an axolotl.',
       ai_action_items = '[{"title": "axolotl", "assignee": {"name": "Zora"}}]', ai_template_sections = '[{"text": "axolotl"}]',
       chapters_by_hand = true, ai_chapters = '[{"title": "axolotl", "start": 0, "quote": "axolotl"}]'
     where id = $1`,
    [recordingId],
  );
  await pool.query(
    "insert into intelligence_runs (recording_id, status, written_title) values ($1, 'running', 'Zora Quimby and Bob')",
    [recordingId],
  );
  await pool.query(`insert into intelligence_steps values ($1, 'key', '{"value": "axolotl"}')`, [
    recordingId,
  ]);
  await pool.query("insert into transcriptions (recording_id, status) values ($1, 'failed')", [recordingId]);
  await pool.query(`insert into transcription_chunks values ($1, 0, 0, 1, '{"text": "axolotl"}')`, [
    recordingId,
  ]);
  return recordingId;
}

/** Deliveries of every event, with payloads and responses that contain her data; one of them is pending. */
async function fillDeliveries(recordingId: string): Promise<string> {
  const { id: hookId } = await insertHook(app, {
    created_by: zora.id,
    hook_type: "recording_updated",
    disabled_at: new Date(),
  });
  await pool.query(
    `insert into deliveries (hook_id, event_id, event_type, subject_id, recording_id, payload, attempts, state, settled_at,
       first_at, first_ms, first_status, first_response)
     select $1, id, type, subject_id, recording_id, 'zora.quimby@x', 2,
       case type when 'recording_updated' then 'pending' else 'delivered' end,
       case type when 'recording_updated' then null else now() end, now(), 1, 200, 'zora.quimby@x'
     from events where recording_id = $2 or subject_id = $2 or subject_id in (select id from uploads)`,
    [hookId, recordingId],
  );
  await pool.query(
    `insert into delivery_attempts (delivery_id, attempt, started_at, duration_ms, status, response, request_headers)
     select id, 2, now(), 1, 500, payload, '{}' from deliveries where hook_id = $1`,
    [hookId],
  );
  return hookId;
}

const formats = ["txt", "vtt", "srt"] as const;
const readTranscript = (recordingId: string, format: string) =>
  call(app, "GET", `/recordings/${recordingId}/transcript.${format}`, undefined, { token: bob.token });

async function erase(of: { email: string; recordings?: string }) {
  const { id } = await by(admin.token, "POST", "/erasures", of);
  return until("the erasure is done", async () => {
    const body = await by(admin.token, "GET", `/erasures/${id}`);
    return body.status === "done" ? body : undefined;
  });
}

test("erased: the database contains no trace of the person, and what others said stays", async () => {
  await fillAccount();
  const recordingId = await fillRecording();
  const staged = await call(
    app,
    "POST",
    "/uploads/create",
    {
      media_type: "transcript",
      auto_promote: false,
      attributes: {
        title: "Later",
        participants: participants.map(({ crm_contact_id: _, observed_join_time: __, ...person }) => person),
        transcript: {
          ...transcript,
          segments: transcript.segments.map((segment, index) => ({
            ...segment,
            text: index === 1 ? "Walrus" : "Okapi",
          })),
        },
      },
    },
    { token: bob.token },
  );
  assert.equal(staged.status, 200, staged.text);
  // Nobody knows whose those words are: no trace.
  await pool.query(
    `update upload_transcripts set segments = jsonb_set(jsonb_set(segments, '{2,text}', '"x"'), '{3,text}', '"x"')
     where upload_id = $1`,
    [staged.body.id],
  );
  const hookId = await fillDeliveries(recordingId);
  for (const format of formats) {
    const before = await readTranscript(recordingId, format);
    assert.ok(before.text.includes("Zora Quimby"), `${format}: ${before.text}`);
  }
  assert.deepEqual(await tracesIn(), Object.keys(traces), "every trace is there, or this test shows nothing");
  const known = keyOf("known", email.toLowerCase(), ipPrefixOf(address)).toString("hex");
  assert.ok((await dumpDatabase(app)).includes(known));
  const countMails = async () =>
    (await pool.query("select count(*)::integer as n from jobs where name = 'send_mail'")).rows[0].n;
  await until("the mails of both links wait", async () => (await countMails()) === 2);
  const { rows: last } = await pool.query("select max(id) as id from events");

  const done = await erase({ email: email.toUpperCase() });
  assert.deepEqual(
    { ...done.receipt, audit_entries_erased: done.receipt.audit_entries_erased > 2 },
    {
      recordings_anonymised: 1,
      recordings_deleted: 0,
      segments_erased: 2,
      media_kept: [],
      unknown_speakers: [recordingId],
      held: [],
      uploads_changed: 2,
      account_erased: true,
      voice_profiles_erased: 0,
      audit_entries_erased: true,
    },
  );
  assert.ok(done.finished_datetime);
  // A model run that was in progress all the time continues, and stores nothing.
  await saveStep(db.kysely, recordingId, "late", { isTruncated: false, value: "axolotl" });
  assert.deepEqual(await tracesIn(), []);
  assert.equal(await countMails(), 0);
  assert.equal((await dumpDatabase(app)).includes(known), false);

  // What is left is a recording as any other.
  for (const format of formats) {
    const { status, text } = await readTranscript(recordingId, format);
    assert.equal(status, 200);
    assert.ok(
      text.includes("Erased person") && text.includes("[erased]") && text.includes("Walrus, as always."),
      text,
    );
  }
  const view = await by(bob.token, "GET", `/recordings/${recordingId}`);
  assert.equal(view.recording.title, "Budget");
  assert.deepEqual(
    view.participants.map((person: { name: string; email: string | null }) => [person.name, person.email]),
    [
      ["Erased person", null],
      ["Bob", null],
    ],
  );
  assert.deepEqual(
    view.recording.recorders.map((user: { name: string }) => user.name).sort(),
    [bob.name, "Erased person"].sort(),
  );
  const found = async (words: string) => (await by(bob.token, "GET", `/search?q=${words}`)).results.length;
  assert.deepEqual([await found("axolotl"), await found("quimby"), await found("walrus")], [0, 0, 1]);

  // Events for what changed: the highlight in which she speaks, not the other.
  const { rows: events } = await pool.query(
    `select e.type, h.text from events e left join highlights h on h.id = e.subject_id
     where e.recording_id = $1 and e.id > $2 order by e.id`,
    [recordingId, last[0].id],
  );
  assert.deepEqual(events, [
    { type: "highlight_updated", text: "The point" },
    { type: "recording_updated", text: null },
  ]);
  // The pending delivery is sent again with the current data; earlier ones stay in the log without their payload.
  const { rows: deliveries } = await pool.query(
    "select state, event_type, count(payload)::integer as payloads, count(*)::integer > 0 as any from deliveries where hook_id = $1 group by 1, 2 order by 1, 2",
    [hookId],
  );
  assert.ok(deliveries.every((row) => row.payloads === 0));
  assert.deepEqual(
    [...new Set(deliveries.filter((row) => row.event_type === "recording_updated").map((row) => row.state))],
    ["pending", "withheld"],
  );

  // Access has ended, references stay, and the chain of the audit log still holds.
  assert.equal((await manage(app, "GET", "/search?q=walrus", zora.token)).status, 401);
  const { rows: users } = await pool.query(
    "select name, email, deactivated_at is not null as gone from users where id = $1",
    [zora.id],
  );
  assert.deepEqual(users, [{ name: "Erased person", email: `${zora.id}@erased.invalid`, gone: true }]);
  const verdict = await until("every entry is in the chain", async () => {
    const found = await verify(app, workspace.id);
    return found.unsealed === 0 ? found : undefined;
  });
  assert.equal(verdict.broken, null);
  assert.ok(verdict.erased > 0);
  // Asked for again there is nothing left to do.
  const again = await erase({ email });
  assert.equal(again.receipt.recordings_anonymised + again.receipt.segments_erased, 0);
  assert.equal(again.receipt.account_erased, false);
});
