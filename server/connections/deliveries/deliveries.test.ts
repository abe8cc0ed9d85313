import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { startHookReceiver, status } from "../../../test/support/hook-receiver.ts";
import { until } from "../../../test/support/until.ts";
import { auditOf } from "../../people/accounts/test/accounts.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { findCandidates, readExample } from "./example.ts";

/** A clock that the tests set. */
const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
const app = await startTestApp({
  clock,
  env: {
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.1/32",
    PARLEY_SMTP_URL: "smtp://127.0.0.1:9",
    PARLEY_SMTP_FROM: "parley@x.example",
    PARLEY_PAGE_SIZE: "2",
  },
});
const { db } = app;
const { manage } = dataTools(app);
const receiver = await startHookReceiver();
const workspace = await makeWorkspace(db);
const { member, admin } = workspace;

async function made(user: { token: string }, body: object) {
  const { status: code, body: delivery, text } = await manage("POST", "/deliveries", user.token, body);
  assert.equal(code, 200, text);
  return delivery;
}
let paths = 0;
/** A delivery to a path of the receiver. */
async function slack(user: { token: string }, values: object = {}) {
  paths += 1;
  const path = `/services/T${paths}/secret${paths}`;
  const delivery = await made(user, { kind: "slack", url: receiver.url + path, ...values });
  return {
    id: delivery.id as string,
    path,
    received: () => receiver.requests.filter((one) => one.path === path),
  };
}
const attemptsOf = async (id: string, { token }: { token: string } = admin) =>
  (await manage("GET", `/deliveries/${id}/attempts`, token)).body.attempts;
async function settled(id: string, count = 1) {
  return until("the attempts have ended", async () => {
    const rows = (await db.pool.query("select * from deliveries where hook_id = $1 order by id", [id])).rows;
    return rows.length >= count && rows.every(({ state }) => state !== "pending") ? rows : undefined;
  });
}
/** Waits until the events recorded so far have become deliveries. */
async function caughtUp(): Promise<void> {
  app.jobs.wake();
  await until(
    "no event waits",
    async () => (await db.pool.query("select 1 from waiting_events")).rows.length === 0,
  );
}

test("a recording is sent once when it is ready, with a link, and not again when it changes; its URL is never shown", async () => {
  const { id, received, path } = await slack(member, { name: "Team channel" });
  const { recordingId } = await makeRecording(app, member.token, { title: "Roadmap <review>" });
  await settled(id);
  const [request] = received();
  const body = JSON.parse(request?.body ?? "");
  assert.equal(
    body.blocks[0].text.text,
    `*<${app.config.baseUrl}/recordings/${recordingId}|Roadmap &lt;review&gt;>*`,
  );
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { title: "Later" });
  await caughtUp();
  assert.equal(received().length, 1);
  const [attempt] = await attemptsOf(id, member);
  assert.deepEqual(
    [attempt.recording_id, attempt.title, attempt.state, attempt.attempts, attempt.last_status],
    [recordingId, "Later", "delivered", 1, 200],
  );
  // An admin who can't see the recording learns neither its title nor what was returned.
  const [hidden] = await attemptsOf(id);
  assert.deepEqual([hidden.title, hidden.last_response], [null, null]);
  const { rows } = await db.pool.query(
    "select t::text as t, h::text as h from destinations t join hooks h on h.id = t.hook_id",
  );
  const shown = JSON.stringify([
    await manage("GET", "/deliveries", admin.token),
    rows,
    await auditOf(db, workspace.id),
  ]);
  assert.ok(!shown.includes(path) && shown.includes("Team channel"));
});

test("all conditions must be met; a change that meets them later sends the recording", async () => {
  const tagged = await slack(member, { conditions: { tag: "Launch", title: "revue" } });
  const scoped = await slack(member, { conditions: { scope: "external" } });
  const { recordingId } = await makeRecording(app, member.token, { title: "Große Revüe" });
  await caughtUp();
  assert.equal((await attemptsOf(tagged.id)).length + (await attemptsOf(scoped.id)).length, 0);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { tags: ["launch"] });
  await settled(tagged.id);
  assert.deepEqual([tagged.received().length, scoped.received().length], [1, 0]);
  const wrong = await manage("POST", "/deliveries", member.token, {
    kind: "slack",
    url: receiver.url,
    template: "{sumary}",
    conditions: { team_id: workspace.id },
  });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /\{sumary\}/);
});

test("only what the owner can see is sent, also at a retry and after a resend; an admin who changes a delivery becomes its owner", async () => {
  const other = await makeUser(db, workspace);
  const mine = await slack(member);
  const theirs = await slack(other);
  receiver.at(mine.path, status(500, "busy"));
  const { recordingId } = await makeRecording(app, member.token);
  await until("it was tried", () => mine.received().length === 1);
  assert.equal((await attemptsOf(theirs.id)).length, 0);
  // The admin points the delivery to another channel: the recordings of the member don't go there.
  const url = `${receiver.url}/services/admin`;
  const changed = await manage("PATCH", `/deliveries/${mine.id}`, admin.token, { url });
  assert.deepEqual([changed.status, changed.body.user_id], [200, admin.id]);
  clock.aheadMs += 60_000;
  app.jobs.wake();
  const [row] = await settled(mine.id);
  assert.equal(row.state, "withheld");
  assert.equal(receiver.requests.filter(({ path }) => path === "/services/admin").length, 0);
  assert.equal(
    (await manage("POST", `/deliveries/${mine.id}/attempts/${row.message_id}/resend`, admin.token)).status,
    409,
  );
  assert.equal((await manage("GET", `/deliveries/${mine.id}/attempts`, other.token)).status, 404);
  // A recording that goes to the trash before its retry is not sent.
  const late = await slack(member);
  receiver.at(late.path, status(500));
  const { recordingId: gone } = await makeRecording(app, member.token);
  await until("it was tried", () => late.received().length === 1);
  await manage("DELETE", `/recordings/${gone}`, member.token);
  clock.aheadMs += 60_000;
  app.jobs.wake();
  assert.equal((await settled(late.id))[0].state, "withheld");
  assert.equal(late.received().length, 1);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
});

test("while models are at work it waits; it is sent when they have finished or failed", async () => {
  const { id, received } = await slack(member);
  await db.pool.query("update workspaces set recording_added = 'immediately' where id = $1", [workspace.id]);
  const { recordingId } = await makeRecording(app, member.token);
  await settled(id);
  // As if its language model were still running when the event came.
  await db.pool.query("delete from deliveries where hook_id = $1", [id]);
  await db.pool.query("delete from delivered_recordings where hook_id = $1", [id]);
  await db.pool.query("insert into intelligence_runs (recording_id, status) values ($1, 'waiting')", [
    recordingId,
  ]);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { title: "Waits" });
  await until("it waits", async () => (await attemptsOf(id))[0]?.state === "pending");
  assert.deepEqual([received().length, (await attemptsOf(id))[0].attempts], [1, 0]);
  await db.pool.query(
    "update intelligence_runs set status = 'failed', finished_at = now() where recording_id = $1",
    [recordingId],
  );
  clock.aheadMs += 31_000;
  app.jobs.wake();
  await settled(id);
  assert.equal(received().length, 2);
});

test("an attempt that ended without a result, as by kill -9, is reported and not repeated; a resend sends it again", async () => {
  const { id, received, path } = await slack(member);
  const { recordingId } = await makeRecording(app, member.token);
  const [row] = await settled(id);
  // As a process leaves it that was killed after its request.
  await db.pool.query(
    "update deliveries set state = 'pending', settled_at = null, attempts = 0, first_at = null where id = $1",
    [row.id],
  );
  await db.pool.query("update hooks set next_due_at = now() - interval '1 second' where id = $1", [id]);
  app.jobs.wake();
  await settled(id);
  assert.equal(received().length, 1);
  const [attempt] = await attemptsOf(id, member);
  assert.equal(attempt.state, "exhausted");
  assert.match(attempt.last_error, /may or may not have arrived/);
  const resent = await manage("POST", `/deliveries/${id}/attempts/${attempt.id}/resend`, member.token);
  assert.deepEqual([resent.status, resent.body.state], [200, "pending"]);
  await settled(id);
  assert.deepEqual([received().length, (await attemptsOf(id, member))[0].state], [2, "delivered"]);
  assert.ok(received().every((request) => request.path === path && request.body.includes(recordingId)));
});

test("a destination that fails for three days is switched off, and its owner gets one email; enabling sends what waits", async () => {
  await db.pool.query("delete from hooks where hook_type = 'delivery'");
  const { id, path, received } = await slack(member, { name: "Old channel" });
  receiver.at(path, status(404, "no_service"));
  await makeRecording(app, member.token);
  await until("it was tried", () => received().length === 1);
  const mails = async () =>
    Number((await db.pool.query("select count(*) from jobs where name = 'send_mail'")).rows[0].count);
  const before = await mails();
  await until("the failure is saved", async () => {
    const { rowCount } = await db.pool.query(
      "update hooks set failing_since = failing_since - interval '3 days' where id = $1 and failing_since is not null and leased_by is null",
      [id],
    );
    return rowCount === 1;
  });
  clock.aheadMs += 10 * 60_000;
  app.jobs.wake();
  await until("it is switched off", async () => {
    const { rows } = await db.pool.query("select 1 from hooks where id = $1 and disabled_at is not null", [
      id,
    ]);
    return rows.length > 0;
  });
  const { body } = await manage("GET", "/deliveries", member.token);
  const off = body.deliveries.find((one: { id: string }) => one.id === id);
  assert.deepEqual([off.enabled, off.disabled_reason], [false, "every attempt of three days failed"]);
  assert.equal((await mails()) - before, 1);
  const tries = received().length;
  await makeRecording(app, member.token);
  await caughtUp();
  assert.equal(received().length, tries);
  receiver.at(path, status(200, "ok"));
  assert.equal(
    (await manage("PATCH", `/deliveries/${id}`, member.token, { enabled: true })).body.enabled,
    true,
  );
});

test("a test returns the response without the URL; of a long one it and the log show the beginning", async () => {
  const { id, path, received } = await slack(member);
  receiver.at(
    path,
    (request, response) => void response.writeHead(400).end(`invalid_payload at ${request.path}`),
  );
  const { body } = await manage("POST", `/deliveries/${id}/test`, member.token);
  assert.deepEqual(
    [body.ok, body.status, body.error, body.response],
    [false, 400, "the response was 400 Bad Request", "invalid_payload at [redacted]"],
  );
  assert.match(received()[0]?.body ?? "", /Test message from Parley/);
  const { recordingId } = await makeRecording(app, member.token, { title: "Preview" });
  const asked = { kind: "teams", recording_id: recordingId, template: "{title} on {date}" };
  const preview = await manage("POST", "/deliveries/preview", member.token, asked);
  assert.match(preview.body.text, /^Preview on \w+ \d+, \d{4} at \d+:\d\d [AP]M UTC$/);
  assert.match(preview.body.payload, /AdaptiveCard/);
  receiver.at(path, (_request, response) => void response.writeHead(404).end("A. ".repeat(6800)));
  const long = await manage("POST", `/deliveries/${id}/test`, member.token);
  const sent = await makeRecording(app, member.token, { title: "Long response" });
  const logged = await until("the attempt failed", async () => {
    app.jobs.wake();
    const [attempt] = await attemptsOf(id, member);
    return attempt.recording_id === sent.recordingId && attempt.last_response !== null ? attempt : undefined;
  });
  assert.deepEqual([long.body.response.length, logged.last_response.length], [2000, 2000]);
  const inKolkata = { time_zone: "Asia/Kolkata" };
  assert.equal((await manage("PATCH", "/me", member.token, inKolkata)).status, 200);
  const zoned = await manage("POST", "/deliveries/preview", member.token, { ...asked, kind: "mattermost" });
  assert.match(zoned.body.text, /[AP]M GMT\+5:30$/);
  assert.ok(zoned.body.payload.includes(zoned.body.text.slice("Preview on ".length)));
  assert.equal(
    (await manage("POST", "/deliveries/preview", (await makeUser(db, workspace)).token, asked)).status,
    404,
  );
});

test("a test sends what the preview shows, of the newest recording that would be sent and that both owner and caller can see", async () => {
  const owner = await makeUser(db, workspace);
  const template = "{summary}\n\n{transcript}";
  const conditions = { title: "harbour" };
  const { id, received } = await slack(owner, { template, conditions });
  const preview = async (user: { token: string }, values: object = {}) => {
    const body = { kind: "slack", template, conditions, ...values };
    const found = await manage("POST", "/deliveries/preview", user.token, body);
    assert.equal(found.status, 200, found.text);
    return found.body;
  };
  const tried = async (user: { token: string }) => {
    const { body, text } = await manage("POST", `/deliveries/${id}/test`, user.token);
    assert.equal(body.ok, true, text);
    return { recording: body.recording, payload: received().at(-1)?.body ?? "" };
  };
  // Nothing would be sent yet: a sample, with the transcript as there is no language model.
  await makeRecording(app, owner.token, { title: "Another meeting" });
  const sample = await preview(owner);
  assert.deepEqual([sample.recording, sample.recordings], [null, []]);
  assert.match(sample.text, /^\*\*Ada:\*\* This is a test\. Transcripts/);
  assert.deepEqual(await tried(owner), { recording: null, payload: sample.payload });

  const add = async (title: string, day: number): Promise<string> => {
    const attributes = { title, start_datetime: `2026-11-0${day}T09:00:00Z` };
    return (await makeRecording(app, owner.token, attributes)).recordingId;
  };
  const older = await add("Harbour plan", 1);
  const newest = await add("Harbour review", 2);
  const silent = await add("Harbour sounds", 3);
  for (const one of [older, silent])
    await manage("PATCH", `/recordings/${one}`, owner.token, { share_state: "workspace" });
  await settled(id, 3);
  await db.pool.query("delete from transcript_segments where recording_id = $1", [silent]);
  const shown = await preview(owner);
  assert.deepEqual(
    [shown.recording.id, shown.recordings.map(({ title }: { title: string }) => title)],
    [newest, ["Harbour review", "Harbour plan"]],
  );
  const { recording, payload } = await tried(owner);
  assert.deepEqual(recording, shown.recording);
  const sent = JSON.parse(payload);
  sent.blocks[1].text.text = sent.blocks[1].text.text.replace("*Test message from Parley*\n\n", "");
  assert.deepEqual(sent, JSON.parse(shown.payload), "the same but for one line");

  // An admin who tests it learns nothing that they can't see.
  assert.equal((await tried(admin)).recording.id, older);
  // With a language model, a recording without a summary would wait for it.
  await db.pool.query("update recordings set ai_summary = 'Signed.' where id = $1", [older]);
  const limits = { silenceMs: 1000, contextTokens: 8192, maxTokensPerDay: null };
  const server = { engine: "server", url: "http://127.0.0.1:9/v1", model: "m", apiKey: null } as const;
  const withModel = { ...app.config, languageModel: { ...server, ...limits } };
  const principal = { workspaceId: workspace.id, sees: [workspace.id, owner.id] };
  const found = await findCandidates({ db, config: withModel }, principal, conditions, id);
  assert.deepEqual(
    found.map(({ id: one }) => one),
    [older],
  );
  const example = await readExample({ db, config: withModel }, workspace.id, undefined);
  assert.match(example.recording.ai_summary ?? "", /^This is a test\. Summaries/);
});

test("URLs in private networks, and kinds for admins, are refused", async () => {
  for (const url of [
    "http://10.0.0.1/x",
    "http://[::1]/x",
    "http://127.0.0.2:3000/x",
    "http://169.254.169.254/",
    "ftp://x.example",
  ]) {
    const refused = await manage("POST", "/deliveries", member.token, { kind: "slack", url });
    assert.equal(refused.status, 400, url);
  }
  assert.equal((await manage("POST", "/deliveries", member.token, { kind: "discord" })).status, 400);
  assert.equal((await manage("POST", "/deliveries", member.token, { kind: "email" })).status, 403);
});

test("a delivery is no webhook: the operations of hooks don't know it", async () => {
  const { id } = await slack(admin);
  assert.equal((await manage("GET", `/hooks/${id}`, admin.token)).status, 404);
  const { body } = await manage("GET", "/hooks", admin.token);
  assert.ok(body.hooks.every((hook: { id: string }) => hook.id !== id));
  assert.equal((await manage("DELETE", `/deliveries/${id}`, admin.token)).status, 200);
  assert.equal((await db.pool.query("select 1 from destinations where hook_id = $1", [id])).rows.length, 0);
});
