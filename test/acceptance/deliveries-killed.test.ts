import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import pg from "pg";
import { SMTPServer } from "smtp-server";
import { call } from "../support/call.ts";
import { ok, startHookReceiver } from "../support/hook-receiver.ts";
import { startS3Server } from "../support/s3-server.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

/** How often the worker is killed; set with KILLS. */
const kills = Number(process.env.KILLS ?? 2);

/** Emails that the mail server has accepted. */
const mails: string[] = [];
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  onData(stream, _session, done) {
    let text = "";
    stream.on("data", (chunk) => {
      text += chunk;
    });
    // A kill also comes while an email is sent.
    stream.on("end", () =>
      setTimeout(() => {
        mails.push(text);
        done();
      }, Math.random() * 60),
    );
  },
});
// A killed worker's connection is reset; what it sent is counted in the end.
smtp.on("error", () => undefined);
await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
const { port: smtpPort } = smtp.server.address() as { port: number };
const s3 = await startS3Server();
const bucket = s3 === null ? null : await s3.bucket();
const env = {
  PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
  PARLEY_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
  PARLEY_SMTP_FROM: "parley@killed.example",
  PARLEY_SWEEP_INTERVAL: "500ms",
  // Files go to a real bucket where a server of S3 is installed, and otherwise to a folder.
  ...(s3 === null || bucket === null
    ? {}
    : {
        PARLEY_STORAGE: "s3",
        PARLEY_S3_ENDPOINT: s3.endpoint,
        PARLEY_S3_BUCKET: bucket,
        AWS_ACCESS_KEY_ID: s3.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      }),
};
const api = await prepareServer({ env: { ...env, PARLEY_ROLE: "api" } });
const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: api });
const receiver = await startHookReceiver();
after(async () => {
  await worker.dispose();
  await api.dispose();
  await new Promise<void>((resolve) => smtp.close(() => resolve()));
  await s3?.stop();
});

/** Whether a file was written to the bucket or the folder. */
async function isWritten(key: string): Promise<boolean> {
  if (s3 === null || bucket === null) return existsSync(join(api.env.PARLEY_DATA_DIR ?? "", "objects", key));
  const { endpoint, accessKeyId, secretAccessKey } = s3;
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  return client.send(new HeadObjectCommand({ Bucket: bucket, Key: key })).then(
    () => true,
    () => false,
  );
}

/** A calendar with a meeting that takes from now on for an hour. */
function meetingNow(): string {
  const stamp = (ms: number): string => new Date(Date.now() + ms).toISOString().replace(/[-:]|\.\d+/g, "");
  return [
    ...["BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:killed", `DTSTART:${stamp(-1_800_000)}`],
    ...[`DTEND:${stamp(3_600_000)}`, "SUMMARY:Killed", "ORGANIZER:mailto:k@killed.example"],
    ...["ATTENDEE:mailto:jo@elsewhere.example", "END:VEVENT", "END:VCALENDAR", ""],
  ].join("\r\n");
}

test(`killed ${kills} times: every recording has its meeting once, no chat message or email comes twice, none is lost unreported, every file is written`, async (context) => {
  await api.start();
  const workspace = await parley(api, "workspace", "create", "--name", "Killed");
  const account = ["--email", "k@killed.example", "--name", "K", "--role", "admin", "--workspace", workspace];
  await parley(api, "user", "create", ...account);
  const token = await parley(api, "token", "create", "--email", "k@killed.example", "--workspace");
  const manage = (method: string, path: string, body?: object) =>
    call(api, method, `/_/api/v1${path}`, body, { token, version: null });
  const chat = await manage("POST", "/deliveries", { kind: "slack", url: `${receiver.url}/chat` });
  assert.equal(chat.status, 200, chat.text);
  assert.equal((await manage("POST", "/deliveries", { kind: "markdown" })).status, 200);
  const database = new pg.Client(api.env.PARLEY_DATABASE_URL);
  await database.connect();
  after(() => database.end());
  const user = (await call(api, "POST", "/users", {}, { token })).body.users[0].id;
  // A second user, who is mentioned in comments and gets an email for each.
  const member = ["--email", "m@killed.example", "--name", "M", "--workspace", workspace];
  await parley(api, "user", "create", ...member);
  const users: { id: string; email: string }[] = (await call(api, "POST", "/users", {}, { token })).body
    .users;
  const own = await parley(api, "token", "create", "--email", "k@killed.example");
  const mentioned = users.find(({ email }) => email === "m@killed.example")?.id ?? "";
  receiver.at("/calendar.ics", (_request, response) => {
    response.end(meetingNow());
  });
  // A kill also comes between a request and its response.
  receiver.otherwise(async (request, response) => {
    await delay(Math.random() * 60);
    await ok(request, response);
  });
  const upload = (title: string) =>
    call(
      api,
      "POST",
      "/uploads/create",
      {
        media_type: "transcript",
        attributes: {
          title,
          // A meeting is matched only by a start that its sender states.
          start_datetime: new Date().toISOString(),
          recorder_ids: [user],
          transcript: {
            language: "en",
            segments: [{ speaker_key: "a", start: 0, end: 900, text: "Hello." }],
          },
        },
      },
      { token },
    );
  await worker.start();
  assert.equal((await upload("Discussed")).status, 200);
  const discussed: string = await until("a recording to comment on", async () => {
    const { rows } = await database.query("select id from recordings");
    return rows[0]?.id;
  });
  const shared = await manage("PATCH", `/recordings/${discussed}`, { share_state: "workspace" });
  assert.equal(shared.status, 200, shared.text);
  const acknowledged: string[] = [];
  let tried = 0;
  const comment = async (): Promise<void> => {
    tried += 1;
    const text = `@M remark-${tried}.`;
    const body = { text, mentions: [mentioned] };
    const { status } = await call(api, "POST", `/_/api/v1/recordings/${discussed}/comments`, body, {
      token: own,
      version: null,
    });
    assert.equal(status, 200);
    acknowledged.push(text);
  };
  // A calendar whose meeting every recording is of, so that a kill also comes while one is matched.
  const calendar = await call(
    api,
    "POST",
    "/_/api/v1/calendars",
    { kind: "ics", url: `${receiver.url}/calendar.ics`, allow_http: true },
    { token: own, version: null },
  );
  assert.equal(calendar.status, 200, calendar.text);
  for (let round = 0; round < kills; round += 1) {
    const before = receiver.requests.length;
    for (let index = 0; index < 2; index += 1)
      assert.equal((await upload(`Meeting ${round} ${index}`)).status, 200);
    await comment();
    // In every other round, right after the first request has arrived.
    if (round % 2 === 0) await until("a request has arrived", () => receiver.requests.length > before);
    else await delay((round * 137) % 900);
    await worker.kill();
    // As if the dead worker's lease had expired.
    await database.query("update hooks set leased_until = now() where leased_until is not null");
    await database.query(
      "update jobs set heartbeat_at = now() - interval '1 minute' where run_id is not null",
    );
    await worker.start();
    if (round % 4 === 1) {
      // Between the change, its event and its notifications.
      const sending = comment().catch(() => undefined);
      await delay(Math.random() * 25);
      await api.kill();
      await sending;
      await api.start();
    }
  }
  const count = kills * 2 + 1;
  const ended = await until(
    "every recording was handled",
    async () => {
      const { rows } = await database.query(
        `select d.recording_id, t.kind, d.state, coalesce(d.first_error, '') as error, d.first_response as response
         from deliveries d join destinations t on t.hook_id = d.hook_id`,
      );
      const done = rows.filter(({ state }) => state !== "pending");
      const sent = done.filter(({ kind }) => kind === "slack");
      const files = done.filter(({ kind }) => kind === "markdown");
      const { rows: waiting } = await database.query("select 1 from waiting_events");
      return sent.length === count &&
        files.length >= count &&
        waiting.length === 0 &&
        done.length === rows.length
        ? done
        : undefined;
    },
    120_000,
  );
  for (const { recording_id, kind, state, error, response } of ended) {
    if (kind === "markdown") {
      assert.equal(state, "delivered");
      assert.ok(await isWritten(response), response);
      continue;
    }
    const messages = receiver.requests.filter(({ body }) => body.includes(recording_id)).length;
    if (state === "delivered") assert.equal(messages, 1);
    else {
      assert.ok(messages <= 1, `${messages} messages`);
      assert.match(error, /may or may not have arrived/);
    }
  }

  // Every recording has its meeting, with its person and `recording_updated` once.
  const matched = await until("every recording was matched", async () => {
    const { rows } = await database.query(
      `select r.title,
         (select count(*) from participants p where p.recording_id = r.id and p.email = 'jo@elsewhere.example')::integer as people,
         (select count(*) from events e where e.subject_id = r.id and e.type = 'recording_updated')::integer as events,
         r.calendar_event ->> 'ical_uid' as uid
       from recordings r join recording_meetings m on m.recording_id = r.id and m.state = 'matched'
       where r.title <> 'Discussed'`,
    );
    return rows.length === kills * 2 ? rows : undefined;
  });
  for (const { title, ...found } of matched)
    assert.deepEqual(found, { people: 1, events: 1, uid: "killed" }, title);

  // A comment, its event and its notification exist together, and those that were acknowledged do.
  const {
    rows: [counts],
  } = await database.query(
    `select (select count(*) from comments)::integer as comments,
       (select count(*) from events where type = 'comment_added')::integer as events,
       (select count(*) from notifications where kind = 'mentioned' and user_id = $1)::integer as notifications`,
    [mentioned],
  );
  assert.equal(counts.events, counts.comments);
  assert.equal(counts.notifications, counts.comments);
  assert.ok(counts.comments >= acknowledged.length && counts.comments <= tried, JSON.stringify(counts));
  await until(
    "every email was sent",
    async () =>
      (await database.query("select 1 from notifications where email_at is not null")).rowCount === 0,
    120_000,
  );
  const texts = mails.map((mail) => mail.replaceAll("=\r\n", ""));
  const sent = acknowledged.map((text) => texts.filter((one) => one.includes(text)).length);
  assert.ok(
    sent.every((times) => times <= 1),
    `emails per comment: ${sent}`,
  );
  // An email that was cut off after its last line began is not sent again; the app has its notification.
  const lost = sent.filter((times) => times === 0).length;
  assert.ok(lost <= kills, `${lost} of ${sent.length} emails lost`);
  context.diagnostic(`${sent.length - lost} of ${sent.length} emails arrived, none twice`);
});
