import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { insertRecording, makeUser, makeWorkspace, type TestUser } from "../../../test/support/factories.ts";
import { startMailServer } from "../../people/accounts/test/mail.ts";
import { emailNotifications } from "./email.ts";

const smtp = await startMailServer();
after(() => smtp.close());
// Without a worker: each test runs the job itself.
const app = await startTestApp({
  worker: false,
  env: { PARLEY_SMTP_URL: smtp.url, PARLEY_SMTP_FROM: "parley@parley.test" },
});
const { db, jobs, config, encryptor } = app;
const workspace = await makeWorkspace(db);
const { member } = workspace;
const log = { warn: () => undefined };

const send = ({ id }: TestUser, kysely = db.kysely) =>
  emailNotifications({ db: { ...db, kysely }, jobs, config, encryptor, log }, id);
const mailsTo = ({ email }: TestUser) => smtp.mails.filter(({ to }) => to.includes(email));
async function manage(method: string, path: string, { token }: Pick<TestUser, "token">, body?: unknown) {
  const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  assert.equal(response.status, 200, response.text);
  return response.body;
}
async function share(user: TestUser, title: string): Promise<string> {
  const id = await insertRecording(db, { recorderId: member.id, title, duration_ms: 60_000 });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: member.token });
  return id;
}
const newUser = (name: string) => makeUser(db, workspace, { name });
const linkIn = (text: string) => /<(http:\/\/parley\.test\/unsubscribe\/[^>]+)>/.exec(text)?.[1] ?? "";

test("what is due at once is one email in text and HTML, grouped by recording, with links to the moments", async () => {
  const user = await newUser("Ann <b>Lee</b>");
  const [heron, other] = [await share(user, "Heron <2>"), await share(user, "Standup")];
  await manage("POST", `/recordings/${heron}/comments`, member, {
    text: "Look, @Ann <b>Lee</b> <script>",
    timestamp: 7600,
    mentions: [user.id],
  });
  await send(user);
  await send(user);
  const [mail, ...others] = mailsTo(user);
  assert.deepEqual(others, []);
  assert.match(mail?.text ?? "", /^Subject: 3 notifications from Parley$/m);
  for (const text of [mail?.text ?? "", mail?.html ?? ""]) {
    assert.ok(text.includes(`http://parley.test/recordings/${heron}?t=7.6`), text);
    assert.ok(text.includes(`http://parley.test/recordings/${other}`));
    assert.match(text, /mentioned you at 0:07/);
    assert.equal(text.split("Heron").length, 2, "the recording is named once");
  }
  assert.doesNotMatch(mail?.html ?? "", /<script>|<b>/);
  assert.match(mail?.html ?? "", /prefers-color-scheme: dark/);
});

test("notifications are in the language of the account, in the email and in the app", async () => {
  const user = await newUser("Ann");
  await manage("PATCH", "/me", user, { language: "en-XA" });
  const id = await share(user, "Budget");
  await manage("POST", `/recordings/${id}/comments`, member, {
    text: "Look, @Ann",
    timestamp: 7600,
    mentions: [user.id],
  });
  const { notifications } = await manage("GET", "/notifications", user);
  assert.match(notifications[0].title, / méñţíóñéð ýóú~+$/);
  await send(user);
  const mail = mailsTo(user)[0];
  assert.match(mail?.html ?? "", /<html lang="en-XA" dir="ltr">/);
  for (const text of [mail?.text ?? "", mail?.html ?? ""]) {
    assert.match(text, /“~Budget”~/);
    assert.match(text, /méñţíóñéð ýóú~+ áţ ~+0:07/);
    assert.match(text, /Šţóp áļļ ñóţífíçáţíóñ émáíļš/);
  }
  assert.match(mail?.raw ?? "", /^Content-Language: en-XA\r?$/m);
});

test("what a user can no longer see, has read or has turned off is not in the email", async () => {
  const user = await newUser("Lou");
  const [lost, read, kept] = [
    await share(user, "Lost"),
    await share(user, "Read"),
    await share(user, "Kept"),
  ];
  await call(app, "DELETE", `/recordings/${lost}/users/${user.id}`, undefined, { token: member.token });
  const { notifications } = await manage("GET", "/notifications", user);
  const seen = notifications.find((one: { recording_id: string }) => one.recording_id === read);
  await manage("POST", "/notifications/read", user, { ids: [seen.id] });
  await send(user);
  const [mail] = mailsTo(user);
  assert.match(mail?.text ?? "", /Kept/);
  assert.doesNotMatch(mail?.raw ?? "", /Lost|Read/);
  assert.ok(kept);
  await share(user, "Later");
  await manage("PATCH", "/me/notification-settings", user, { shared: "app" });
  await send(user);
  assert.equal(mailsTo(user).length, 1);
});

test("the daily email waits for its time and has what came until then", async () => {
  const user = await newUser("Dee");
  await manage("PATCH", "/me/notification-settings", user, { shared: "daily" });
  for (const title of ["One", "Two"]) await share(user, title);
  await send(user);
  assert.equal(mailsTo(user).length, 0);
  const due = "update notifications set email_at = now() - interval '1 second' where user_id = $1";
  await db.pool.query(due, [user.id]);
  await send(user);
  assert.match(mailsTo(user)[0]?.text ?? "", /“One”[\s\S]*“Two”/);
});

test("a process that dies before the email's end sends it again, one that dies after it does not; of two, one sends", async () => {
  const user = await newUser("Kim");
  await share(user, "Killed");
  // Dies as it marks the notifications: the mail server has the text already.
  const dying = new Proxy(db.kysely, {
    get(target, name) {
      if (name === "transaction" && hasCounted()) throw new Error("killed");
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  let transactions = 0;
  // The first transaction counts the email.
  function hasCounted(): boolean {
    transactions += 1;
    return transactions > 1;
  }
  await assert.rejects(send(user, dying), /killed/);
  assert.equal(mailsTo(user).length, 0, "the mail server has discarded it");
  await Promise.allSettled([send(user), send(user)]);
  assert.equal(mailsTo(user).length, 1);
  // After the mark nothing is due, whatever happens to the process.
  await send(user);
  assert.equal(mailsTo(user).length, 1);
});

test("a mail server that is busy gets the email again; one that refuses it permanently does not", async () => {
  const user = await newUser("Bea");
  await share(user, "Busy");
  smtp.refuseWith(451);
  await assert.rejects(send(user), /email could not be sent: .*\[recipient\]/);
  smtp.refuseWith(null);
  await send(user);
  assert.equal(mailsTo(user).length, 1);
  await share(user, "Refused");
  smtp.refuseWith(550);
  await send(user);
  smtp.refuseWith(null);
  await send(user);
  assert.equal(mailsTo(user).length, 1);
});

test("one click stops the emails of a user who is signed out: opening the link changes nothing, POST does", async () => {
  const user = await newUser("Uma");
  await share(user, "First");
  await send(user);
  const { raw = "" } = mailsTo(user)[0] ?? {};
  const head = (raw.split("\r\n\r\n", 1)[0] ?? "").replace(/\r\n\s+/g, " ");
  assert.match(head, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
  const path = new URL(linkIn(head)).pathname;
  const settings = () => manage("GET", "/me/notification-settings", user);
  const page = await fetch(app.url + path);
  assert.match(await page.text(), /<form method="post">/);
  assert.equal((await settings()).shared, "email");
  await share(user, "Waiting");
  const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  assert.equal((await fetch(app.url + path, { method: "POST", body })).status, 200);
  const { summary_emailed: summaries, ...kinds } = await settings();
  assert.deepEqual(new Set(Object.values(kinds)), new Set(["app"]));
  assert.equal(summaries, "email");
  await send(user);
  await share(user, "After");
  await send(user);
  assert.equal(mailsTo(user).length, 1);
  assert.equal((await manage("GET", "/notifications", user)).unread, 3);
});
