import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import { until, withinOneMinute } from "../../../../test/support/until.ts";
import { eraseFromConnections } from "../../../governance/retention/erasure/erase-jobs.ts";
import { createEncryptor } from "../../../platform/crypto/encryptor.ts";
import { apiKey, downloadToken, startStubServices } from "../test/stub-services.ts";

const app = await startTestApp({
  env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8,::1", PARLEY_SWEEP_INTERVAL: "300ms" },
  recurring: ["continue_connection_events"],
});
const { pool } = app.db;
const { id: workspaceId, admin, member, token } = await makeWorkspace(app.db);
const stub = await startStubServices(member.email);
const secret = "secret token of the app";
const oauth = { account_id: "account", client_id: "client", client_secret: "secret" };

const manage = (method: string, path: string, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token: admin.token, version: null });

async function connect(fields: object) {
  const { status, body, text } = await manage("POST", "/connections", {
    ...{ name: "Test", base_url: stub.url, media_hosts: ["localhost"], webhook_secret: secret },
    ...fields,
  });
  assert.equal(status, 200, text);
  assert.ok(![secret, apiKey, "client"].some((one) => text.includes(`"${one}"`)), "no secret is returned");
  return body as { id: string; webhook_url: string };
}

type Connection = Awaited<ReturnType<typeof connect>>;
const zoom = await connect({ kind: "zoom", ...oauth });

/** Sends a webhook with headers that are made of its body. */
async function send(
  { webhook_url: url }: Connection,
  body: object | string,
  sign: (text: string) => Record<string, string> = signZoom(),
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url.replace("http://parley.test", app.url), {
    method: "POST",
    headers: { "content-type": "application/json", ...sign(text) },
    body: text,
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const nowSec = () => Math.floor(Date.now() / 1000);

function signZoom(options: { at?: number; secret?: string } = {}) {
  const at = String(options.at ?? nowSec());
  return (text: string) => ({
    "x-zm-request-timestamp": at,
    "x-zm-signature": `v0=${createHmac("sha256", options.secret ?? secret)
      .update(`v0:${at}:${text}`)
      .digest("hex")}`,
  });
}

interface TestFile {
  readonly type: string;
  readonly name: string;
  readonly start?: string;
  readonly end?: string;
}

const shared = { type: "shared_screen_with_speaker_view", name: "video.mp4" };
const vtt = { type: "audio_transcript", name: "transcript.vtt" };

/** An event of Zoom, with fields as its documentation lists them. */
function event(type: string, uuid: string, files: readonly TestFile[], ts = 1_780_000_000_000) {
  return {
    event: type,
    event_ts: ts,
    payload: {
      account_id: "account",
      object: {
        ...{ uuid, id: 123_456_789, account_id: "account", host_id: "host", host_email: member.email },
        ...{ topic: `Meeting ${uuid}`, type: 2, start_time: "2026-03-04T05:06:07Z", timezone: "UTC" },
        ...{
          duration: 1,
          total_size: 1,
          recording_count: files.length,
          share_url: "https://zoom.us/rec/share/x",
        },
        recording_files: files.map(({ type: kind, name, start, end }, index) => ({
          ...{
            id: `file-${index}`,
            meeting_id: uuid,
            status: "completed",
            recording_type: kind,
            file_size: 1,
          },
          recording_start: start ?? "2026-03-04T05:06:10Z",
          recording_end: end ?? "2026-03-04T05:06:20Z",
          file_type: name.endsWith(".vtt") ? "TRANSCRIPT" : kind === "audio_only" ? "M4A" : "MP4",
          file_extension: name.split(".")[1]?.toUpperCase(),
          download_url: name.startsWith("http") ? name : `${stub.url}/rec/download/${name}`,
        })),
      },
    },
    download_token: downloadToken,
  };
}
const completed = (uuid: string, files: readonly TestFile[], ts?: number) =>
  event("recording.completed", uuid, files, ts);
const transcriptCompleted = (uuid: string) => event("recording.transcript_completed", uuid, [vtt]);
/** Ids of meetings may begin with a slash. */
const newUuid = () => `/${Buffer.from(randomUUID()).toString("base64").slice(0, 20)}==`;

interface Listed {
  id: string;
  type: string;
  state: string;
  reason: string | null;
  attempts: number;
  deliveries: number;
  recording_id: string | null;
}

async function events({ id }: Connection): Promise<Listed[]> {
  const { status, body, text } = await manage("GET", `/connections/${id}/events`);
  assert.equal(status, 200, text);
  return body.events;
}

/** Waits until the latest events have ended, newest first. */
const ended = (
  connection: Connection,
  count = 1,
  states: readonly string[] = ["done", "ignored", "failed"],
) =>
  until(`${count} events are ${states.join(" or ")}`, async () => {
    const latest = (await events(connection)).slice(0, count);
    return latest.length === count && latest.every(({ state }) => states.includes(state))
      ? latest
      : undefined;
  });

/** Makes postponed events due. */
const skipDelays = () =>
  pool.query("update connection_events set next_at = now() - interval '1 second' where state = 'pending'");

async function recording(id: string | null | undefined) {
  const { body, text, status } = await call(
    app,
    "POST",
    `/recordings/${id}`,
    { include: { participants: true } },
    { token },
  );
  assert.equal(status, 200, text);
  const transcript = await call(app, "GET", `/recordings/${id}/transcript`, undefined, { token });
  return { body, lines: transcript.body as { speaker: string; start: number; text: string }[] };
}

async function countRecordings(title: string): Promise<number> {
  const { rowCount } = await pool.query("select 1 from recordings where workspace_id = $1 and title = $2", [
    workspaceId,
    title,
  ]);
  return rowCount ?? 0;
}

test("URL validation: the response is the HMAC of the token, and signs no event", async () => {
  const challenge = (plainToken: string) => ({
    event: "endpoint.url_validation",
    event_ts: 1,
    payload: { plainToken },
  });
  const { status, body } = await send(zoom, challenge("qgg8vlvZRS6UYooatFL8Aw"));
  assert.equal(status, 200);
  assert.deepEqual(body, {
    plainToken: "qgg8vlvZRS6UYooatFL8Aw",
    encryptedToken: createHmac("sha256", secret).update("qgg8vlvZRS6UYooatFL8Aw").digest("hex"),
  });
  const forged = await send(zoom, challenge(`v0:${nowSec()}:{}`), () => ({}));
  assert.equal(forged.status, 401);
});

test("webhooks with a wrong signature, an old time, or for no connection are refused and not stored", async () => {
  const body = completed(newUuid(), [shared]);
  const none = { ...zoom, webhook_url: zoom.webhook_url.replace(zoom.id, randomUUID()) };
  const vexaUrl = { ...zoom, webhook_url: zoom.webhook_url.replace("zoom", "vexa") };
  for (const [expected, sent] of [
    [401, send(zoom, body, signZoom({ secret: "another" }))],
    [401, send(zoom, body, signZoom({ at: nowSec() - 360 }))],
    [401, send(zoom, body, signZoom({ at: nowSec() + 360 }))],
    [401, send(zoom, body, () => ({}))],
    [401, send(zoom, `${JSON.stringify(body)} `, (text) => signZoom()(text.trim()))],
    [404, send(none, body)],
    [404, send(vexaUrl, body)],
    [413, send(zoom, "x".repeat(600_000))],
    // Signed, but nothing to import.
    [200, send(zoom, "[".repeat(100_000))],
    [200, send(zoom, { event: "meeting.started", event_ts: 1, payload: {} })],
  ] as const)
    assert.equal((await sent).status, expected);
  assert.deepEqual(await events(zoom), []);
});

test("an event sent twelve times is one recording: best rendition, host, participants, transcript", async () => {
  const uuid = newUuid();
  const twelve = completed(uuid, [
    { type: "audio_only", name: "missing.m4a" },
    { type: "gallery_view", name: "missing.mp4" },
    shared,
    vtt,
  ]);
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async () => (await send(zoom, twelve)).status),
  );
  assert.deepEqual(new Set(statuses), new Set([200]));
  const [done] = await ended(zoom);
  assert.deepEqual([done?.state, done?.deliveries, done?.reason], ["done", 12, null]);
  const { body: found, lines } = await recording(done?.recording_id);
  assert.deepEqual(
    [found.title, found.source, found.media_type, found.start_datetime],
    [`Meeting ${uuid}`, "zoom", "video", "2026-03-04T05:06:10.000Z"],
  );
  assert.deepEqual(
    found.recorders.map(({ email }: { email: string }) => email),
    [member.email],
  );
  assert.deepEqual(
    found.participants.map(({ name, email }: { name: string; email: string }) => [name, email]).sort(),
    [
      ["Ada Lovelace", member.email],
      ["Charles Babbage", "charles@elsewhere.example"],
    ],
  );
  assert.deepEqual(
    lines.map(({ speaker, text }) => `${speaker}: ${text}`),
    ["Ada Lovelace: Hello everybody", "Charles Babbage: Good morning"],
  );
  // Another event of the same meeting, and the same one once the recording is deleted.
  await send(zoom, completed(uuid, [shared, vtt], 1_780_000_000_001));
  assert.match((await ended(zoom))[0]?.reason ?? "", /imported before/);
  const removed = await call(app, "DELETE", `/_/api/v1/recordings/${done?.recording_id}`, undefined, {
    ...{ token: member.token, version: null },
  });
  assert.equal(removed.status, 200, removed.text);
  await send(zoom, completed(uuid, [shared, vtt], 1_780_000_000_002));
  assert.match((await ended(zoom))[0]?.reason ?? "", /imported before/);
  assert.equal(await countRecordings(`Meeting ${uuid}`), 1, "in the trash");
  assert.deepEqual(stub.leaks, [], "credentials go to the service alone");
});

test("content and secrets are encrypted, and content is gone once it is imported", async () => {
  const { rows } = await pool.query("select secrets, encode(secrets, 'escape') as text from connections");
  for (const { text } of rows) assert.ok(!text.includes(secret));
  const stored = await pool.query(
    "select 1 from connection_events where state = 'done' and payload is not null",
  );
  assert.equal(stored.rowCount, 0);
});

test("a transcript that can't be read, or in part, ends no import, and the event says what was left out", async () => {
  await send(zoom, completed(newUuid(), [shared, { ...vtt, name: "empty.vtt" }]));
  const [silent] = await ended(zoom);
  assert.deepEqual([silent?.state, (await recording(silent?.recording_id)).lines], ["done", []]);
  assert.match(silent?.reason ?? "", /^Transcript: This file has no subtitles/);

  await send(zoom, completed(newUuid(), [shared, { ...vtt, name: "one-bad-cue.vtt" }]));
  const [partial] = await ended(zoom);
  assert.match(partial?.reason ?? "", /^Transcript: 1 part .* line 3 ends before it starts/);
  assert.deepEqual(
    (await recording(partial?.recording_id)).lines.map(({ speaker, text }) => [speaker, text]),
    [["Zoë", "Grüße"]],
  );
});

test("reordered events: a transcript waits for its recording, before and after it is ready", async () => {
  const [early, late] = [newUuid(), newUuid()];
  await send(zoom, transcriptCompleted(early));
  await until("it waits", async () => (await events(zoom))[0]?.reason?.startsWith("Waiting for the event"));
  await send(zoom, completed(early, [shared]));
  const both = await ended(zoom, 2, ["done"]);
  assert.equal(both[0]?.recording_id, both[1]?.recording_id);
  assert.equal((await recording(both[0]?.recording_id)).lines.length, 2);

  await send(zoom, completed(late, [shared]));
  await send(zoom, transcriptCompleted(late));
  await until("both are done", async () => {
    await skipDelays();
    return (await events(zoom)).slice(0, 2).every(({ state }) => state === "done");
  });
  const [{ recording_id: id = null } = {}] = await events(zoom);
  assert.deepEqual(
    (await recording(id)).lines.map(({ speaker }) => speaker),
    ["Ada Lovelace", "Charles Babbage"],
  );
  assert.equal(await countRecordings(`Meeting ${late}`), 1);
});

test("a meeting recorded in two parts is one recording, with its transcripts in place", async () => {
  const [first, second] = [
    { start: "2026-03-04T05:06:10Z", end: "2026-03-04T05:06:22Z" },
    { start: "2026-03-04T05:16:10Z", end: "2026-03-04T05:16:22Z" },
  ];
  const body = completed(newUuid(), [
    { ...shared, ...second },
    { ...vtt, ...second },
    // Nobody shared a screen before the pause.
    { ...shared, ...first, type: "gallery_view" },
    { ...shared, ...second, start: "2026-03-04T05:16:12Z", type: "gallery_view" },
    { ...vtt, ...first },
  ]);
  // An entry of a form that is not known hides no other.
  body.payload.object.recording_files.push({ file_type: "SUMMARY" } as never);
  await send(zoom, body);
  const [done] = await ended(zoom, 1);
  assert.equal(done?.state, "done", done?.reason ?? "");
  const { lines, body: found } = await recording(done?.recording_id);
  assert.deepEqual(
    lines.map(({ start }) => start),
    [1000, 3000, 13_000, 15_000],
  );
  assert.ok(found.duration_ms > 20_000, `${found.duration_ms} ms`);
});

test("an expired download token is replaced by OAuth; without it the event fails with the reason", async () => {
  stub.failures = { expiredTokens: true };
  await send(zoom, completed(newUuid(), [shared, vtt]));
  assert.equal((await ended(zoom))[0]?.state, "done");
  const plain = await connect({ kind: "zoom", name: "Without OAuth" });
  await send(plain, completed(newUuid(), [shared]));
  const [failed] = await ended(plain);
  assert.equal(failed?.state, "failed");
  assert.match(failed?.reason ?? "", /24 hours.*no OAuth credentials/);
  stub.failures = {};
  const retry = () => manage("POST", `/connections/${plain.id}/events/${failed?.id}/retry`);
  assert.equal((await retry()).status, 200);
  assert.equal((await ended(plain, 1, ["done"]))[0]?.state, "done");
  assert.equal((await retry()).status, 409, "only failed events can be retried");
});

test("a transcript reaches a restored recording; while the recording is in the trash it fails and can be retried", async () => {
  const [undone, restored] = [newUuid(), newUuid()];
  const change = async (method: string, path: string) => {
    const { status, text } = await call(app, method, `/_/api/v1${path}`, undefined, {
      ...{ token: member.token, version: null },
    });
    assert.equal(status, 200, text);
  };
  const importAndDelete = async (uuid: string) => {
    await send(zoom, completed(uuid, [shared]));
    const [done] = await ended(zoom, 1, ["done"]);
    await change("DELETE", `/recordings/${done?.recording_id}`);
    return done?.recording_id;
  };
  const restore = (id: string | null | undefined) => change("POST", `/trash/${id}/restore`);

  const first = await importAndDelete(undone);
  await restore(first);
  await send(zoom, transcriptCompleted(undone));
  assert.deepEqual((await ended(zoom))[0]?.reason, null);
  assert.equal((await recording(first)).lines.length, 2);

  const second = await importAndDelete(restored);
  await send(zoom, transcriptCompleted(restored));
  const [failed] = await ended(zoom);
  assert.deepEqual(
    [failed?.state, failed?.reason],
    ["failed", "The recording is in the trash. Restore it, then retry this event."],
  );
  await restore(second);
  await manage("POST", `/connections/${zoom.id}/events/${failed?.id}/retry`);
  await ended(zoom, 1, ["done"]);
  assert.equal((await recording(second)).lines.length, 2);
});

test("an event whose file has arrived is kept until its upload has ended, whatever the upload's status", async () => {
  const title = newUuid();
  stub.failures = { brokenBodies: 1 };
  await send(zoom, completed(title, [shared]));
  await until("the first attempt has failed", async () => (await events(zoom))[0]?.attempts === 1);
  stub.failures = {};
  const [{ id = "" } = {}] = await events(zoom);
  const setUpload = async (changes: string) => {
    const { rowCount } = await pool.query(
      `update uploads set ${changes} where id = (
         select m.upload_id from connection_meetings m join connection_events e on e.meeting_key = m.meeting_key
         where e.id = $1)`,
      [id],
    );
    assert.equal(rowCount, 1);
  };
  // As after an attempt that was killed once it had sent the file.
  await setUpload("status = 'staged', auto_promote = false");
  await skipDelays();
  assert.equal((await ended(zoom, 1, ["importing", "ignored"]))[0]?.state, "importing");
  await setUpload("status = 'failure', failure_reason = 'It is damaged.'");
  assert.equal((await ended(zoom, 1, ["failed"]))[0]?.reason, "It is damaged.");
  await manage("POST", `/connections/${zoom.id}/events/${id}/retry`);
  await ended(zoom, 1, ["done"]);
  assert.equal(await countRecordings(`Meeting ${title}`), 1);
});

test("a broken download is repeated later, and shown as failed when it stays broken", async () => {
  const title = newUuid();
  stub.failures = { brokenBodies: 2 };
  await send(zoom, completed(title, [shared]));
  await until("it was tried three times", async () => {
    await skipDelays();
    return (await events(zoom))[0]?.state === "done";
  });
  assert.equal((await events(zoom))[0]?.attempts, 2);
  const broken = newUuid();
  stub.failures = { brokenBodies: 100 };
  await send(zoom, completed(broken, [shared]));
  const failed = await until("it has failed", async () => {
    await skipDelays();
    const [latest] = await events(zoom);
    return latest?.state === "failed" ? latest : undefined;
  });
  assert.deepEqual([failed.attempts, failed.reason], [6, "the media file could not be read to its end"]);
  stub.failures = {};
  await manage("POST", `/connections/${zoom.id}/events/${failed.id}/retry`);
  await ended(zoom, 1, ["done"]);
  assert.deepEqual(
    [await countRecordings(`Meeting ${title}`), await countRecordings(`Meeting ${broken}`)],
    [1, 1],
  );
});

test("two events of one meeting that are handled at once leave one recording", async () => {
  const title = newUuid();
  stub.failures = { together: 2 };
  await Promise.all([1, 2].map((ts) => send(zoom, completed(title, [shared], ts))));
  const both = await ended(zoom, 2);
  stub.failures = {};
  assert.ok(
    both.every(({ state }) => state === "done" || state === "ignored"),
    JSON.stringify(both),
  );
  assert.equal(await countRecordings(`Meeting ${title}`), 1);
});

test("with another PARLEY_SECRET connections are listed, and erasing personal data removes what is unreadable", async () => {
  const connection = await connect({ kind: "zoom", ...oauth });
  await pool.query("update connections set secrets = 'x' where id = $1", [connection.id]);
  const {
    rows: [row],
  } = await pool.query(
    `insert into connection_events (id, connection_id, event_key, meeting_key, type, payload, next_at)
     values (gen_random_uuid(), $1, 'x', 'x', 'recording.completed', 'x', 'infinity') returning id`,
    [connection.id],
  );
  const listed = await manage("GET", "/connections");
  assert.equal(listed.status, 200, listed.text);
  assert.equal(
    listed.body.connections.find(({ id }: Connection) => id === connection.id)?.has_api_credentials,
    false,
  );
  await app.db.kysely
    .transaction()
    .execute((tx) =>
      eraseFromConnections(tx, createEncryptor("x".repeat(32)), { workspaceId, email: "ada@example.com" }),
    );
  const { rows } = await pool.query("select state, payload from connection_events where id = $1", [row.id]);
  assert.deepEqual(rows, [{ state: "failed", payload: null }]);
  assert.equal((await manage("DELETE", `/connections/${connection.id}`)).status, 200);
});

test("a file that is no recording is shown as failed", async () => {
  await send(zoom, completed(newUuid(), [{ ...shared, name: "small.mp4" }]));
  const [failed] = await ended(zoom);
  assert.equal(failed?.state, "failed");
  assert.match(failed?.reason ?? "", /short|second/i);
});

test("files of other hosts are refused, also after a redirect", async () => {
  const elsewhere = stub.url.replace("127.0.0.1", "127.0.0.2");
  await send(zoom, completed(newUuid(), [{ ...shared, name: `${elsewhere}/rec/download/video.mp4` }]));
  assert.match((await ended(zoom))[0]?.reason ?? "", /the host 127\.0\.0\.2 is not allowed/);
  stub.failures = { redirect: `${elsewhere}/files/video.mp4` };
  await send(zoom, completed(newUuid(), [shared]));
  const [failed] = await ended(zoom);
  assert.equal(failed?.state, "failed");
  assert.match(failed?.reason ?? "", /the host 127\.0\.0\.2 is not allowed/);
  stub.failures = {};
});

test("Attendee: video, transcript and participants of a bot whose recording is complete", async () => {
  const key = Buffer.from("a secret of 32 bytes for webhooks").toString("base64");
  const connection = await connect({ kind: "attendee", webhook_secret: key, api_key: apiKey });
  const hmac = (text: string) =>
    createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
  // What Python signs: sorted keys, no blanks, numbers unchanged. What it sends has blanks.
  const canonical =
    '{"bot_id":"bot_1","bot_metadata":{"a":1.0,"é":"ü"},"data":{"event_type":"post_processing_completed","new_state":"ended","old_state":"post_processing"},"idempotency_key":"5f0c","trigger":"bot.state_change"}';
  const sent = `{"idempotency_key": "5f0c", "bot_id": "bot_1", "bot_metadata": {"\\u00e9": "\\u00fc", "a": 1.0}, "trigger": "bot.state_change", "data": {"new_state": "ended", "old_state": "post_processing", "event_type": "post_processing_completed"}}`;
  assert.equal((await send(connection, sent, () => ({ "x-webhook-signature": hmac(sent) }))).status, 401);
  const sign = () => ({ "x-webhook-signature": hmac(canonical) });
  for (let times = 0; times < 3; times += 1) assert.equal((await send(connection, sent, sign)).status, 200);
  const [done] = await ended(connection);
  assert.deepEqual([done?.state, done?.reason, done?.deliveries], ["done", null, 3]);
  const { body: found, lines } = await recording(done?.recording_id);
  assert.deepEqual(
    [
      ...[found.source, found.media_type, found.start_datetime],
      lines.map(({ speaker, start, text }) => [speaker, start, text]),
    ],
    [
      "meet",
      "video",
      "2026-05-06T07:08:09.000Z",
      [
        ["Ada Lovelace", 1000, "Hello everybody"],
        ["Unknown Speaker 1", 2000, "Hm."],
        ["Unknown Speaker 2", 3000, "Hm."],
      ],
    ],
  );
  assert.deepEqual(
    found.recorders.map(({ email }: { email: string }) => email),
    [admin.email],
  );
});

test("Vexa: audio, transcript and participants of a completed meeting", async () => {
  const connection = await connect({ kind: "vexa", api_key: apiKey });
  const sign = (at: number) => (text: string) => ({
    "x-webhook-timestamp": String(at),
    "x-webhook-signature": `sha256=${createHmac("sha256", secret).update(`${at}.${text}`).digest("hex")}`,
  });
  const body = {
    ...{ event_id: "evt_1", event_type: "meeting.completed", api_version: "2026-03-01" },
    created_at: "2026-05-06T08:00:00Z",
    data: {
      meeting: {
        ...{ id: 42, user_id: 1, platform: "google_meet", native_meeting_id: "abc", status: "completed" },
        ...{ start_time: "2026-05-06T07:08:09Z", end_time: "2026-05-06T07:30:00Z", data: { name: "Weekly" } },
      },
    },
  };
  assert.equal((await send(connection, body, sign(nowSec() - 400))).status, 401);
  assert.equal((await send(connection, body, sign(nowSec()))).status, 200);
  const [done] = await ended(connection);
  assert.deepEqual([done?.state, done?.reason], ["done", null]);
  const { body: found, lines } = await recording(done?.recording_id);
  assert.deepEqual(
    [found.title, found.media_type, lines.map(({ speaker, text }) => `${speaker}: ${text}`)],
    ["Weekly", "audio", ["Ada Lovelace: Hello everybody"]],
  );
  assert.deepEqual(
    found.participants.map(({ name, email }: { name: string; email: string }) => [name, email]),
    [["Ada Lovelace", "ada@elsewhere.example"]],
  );
});

test("connections need https, the fields of their kind, and can be deleted with their events", async () => {
  const create = async (fields: object) => {
    const { body } = await manage("POST", "/connections", { name: "x", webhook_secret: "s", ...fields });
    return (body.violations ?? []).map(({ pointer }: { pointer: string }) => pointer);
  };
  assert.deepEqual(await create({ kind: "vexa" }), ["/base_url", "/api_key"]);
  assert.deepEqual(await create({ kind: "zoom", client_id: "c" }), ["/account_id", "/client_secret"]);
  const plain = { kind: "vexa", api_key: "k", base_url: "http://vexa.example" };
  assert.deepEqual(await create(plain), ["/base_url"]);
  assert.deepEqual(await create({ ...plain, base_url: "http://localhost.vexa.example" }), ["/base_url"]);
  assert.deepEqual(await create({ ...plain, allow_http: true }), []);
  for (const host of ["localhost", "127.0.0.1", "[::1]"])
    assert.deepEqual(await create({ ...plain, base_url: `http://${host}:8056` }), []);
  assert.deepEqual(
    await create({
      kind: "attendee",
      api_key: "k",
      base_url: "https://a.example",
      webhook_secret: "no base 64",
    }),
    ["/webhook_secret"],
  );
  const { body } = await manage("GET", "/connections");
  for (const { id } of body.connections) {
    assert.equal((await manage("DELETE", `/connections/${id}`)).status, 200);
    assert.equal((await manage("GET", `/connections/${id}/events`)).status, 404);
  }
  const { rows } = await pool.query("select count(*)::integer as count from connection_events");
  assert.deepEqual(rows, [{ count: 0 }]);
});

test("wrong signatures are limited by IP address, right ones are not counted", () =>
  withinOneMinute(async () => {
    const limited = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "5" } });
    const { token } = (await makeWorkspace(limited.db)).admin;
    const { body } = await call(
      limited,
      "POST",
      "/_/api/v1/connections",
      { kind: "zoom", name: "Zoom", webhook_secret: secret },
      { token, version: null },
    );
    const target = { ...body, webhook_url: body.webhook_url.replace("http://parley.test", limited.url) };
    for (let count = 0; count < 8; count += 1) assert.equal((await send(target, {})).status, 200);
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1) statuses.push((await send(target, {}, () => ({}))).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
  }));
