import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeTeam, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import {
  auditOf,
  deleteAllAttempts,
  givePassword,
  openBrowser,
  password,
  signInAs,
} from "../test/accounts.ts";
import { startMailServer } from "../test/mail.ts";
import { deleteOldMailCounts } from "./mail-limits.ts";
import { quotableName } from "./mails.ts";

const smtp = await startMailServer();
const { mails } = smtp;
after(() => smtp.close());

const app = await startTestApp({
  env: { PARLEY_SMTP_URL: smtp.url, PARLEY_SMTP_FROM: "Parley <parley@parley.test>" },
});
const silent = await startTestApp({ worker: false });
const workspace = await makeWorkspace(app.db);
const { admin } = workspace;

const manage = (method: string, path: string, body?: unknown, token: string | null = admin.token) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });
const pathOf = (url: string) => new URL(url).pathname;
const linkIn = (text: string) => pathOf(/http:\/\/parley\.test\/\S+/.exec(text)?.[0] ?? "");
const mailTo = (email: string) =>
  until(`a mail to ${email}`, () => mails.findLast((mail) => mail.to.includes(email)));
const newPassword = "three geese over the weir";

async function invite(values: object = {}) {
  const email = `invited${mails.length}${Math.random().toString(36).slice(2, 8)}@${workspace.domain}`;
  const answer = await manage("POST", "/users", { email, name: "Ines Vidal", ...values });
  assert.equal(answer.status, 200, answer.text);
  return { email, user: answer.body.user, link: answer.body.invitation };
}

async function userWithPassword() {
  const person = await makeUser(app.db, workspace);
  await givePassword(app.db, person);
  return person;
}

test("invitation: the link works once, sets name and password and signs the user in", async () => {
  const team = await makeTeam(app.db, workspace);
  const { email, user, link } = await invite({ role: "viewer", team_ids: [team.id] });
  assert.deepEqual([user.state, user.role, user.team_ids], ["invited", "viewer", [team.id]]);
  assert.equal(link.mailed, true);
  const days = (Date.parse(link.expires_at) - Date.now()) / 86_400_000;
  assert.ok(days > 6.99 && days <= 7);
  const mail = await mailTo(email);
  assert.notEqual(linkIn(mail.text), pathOf(link.url), "using the mailed copy proves that the mail arrived");
  assert.equal((await openBrowser(app).get(linkIn(mail.text))).status, 200);
  // Programs that preview links look at them, and use nothing up.
  for (const method of ["GET", "HEAD", "GET"])
    assert.equal((await openBrowser(app).send(method, pathOf(link.url))).status, 200);
  const browser = openBrowser(app);
  const answer = await browser.submit(pathOf(link.url), { name: "Inês Vidal", password: newPassword });
  assert.deepEqual([answer.status, answer.location], [303, "/"]);
  const me = await browser.get("/_/api/v1/session/me");
  assert.deepEqual([me.body.user.name, me.body.session.method], ["Inês Vidal", "link"]);
  const again = await openBrowser(app).send("POST", pathOf(link.url), {
    form: { name: "Eve", password: "another password of eve" },
  });
  assert.equal(again.status, 404);
  assert.equal((await openBrowser(app).get(pathOf(link.url))).status, 404);
  assert.equal((await openBrowser(app).submit("/sign-in", { email, password: newPassword })).status, 303);
  const { body } = await manage("GET", "/users");
  const listed = body.users.find((one: { id: string }) => one.id === user.id);
  assert.equal(listed.state, "active");
  assert.ok(listed.last_signed_in_datetime);
});

test("invitation: one of twenty concurrent uses of a link succeeds", async () => {
  const { link } = await invite();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      openBrowser(app).send("POST", pathOf(link.url), {
        form: { name: `Person ${index}`, password: `${newPassword} ${index}` },
      }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 303).length, 1);
  assert.equal(answers.filter(({ status }) => status === 404).length, 19);
});

test("invitation: a weak password or blank name is refused, and the link stays valid", async () => {
  const { email, link } = await invite();
  for (const [name, word, reason] of [
    ["Ines", "short", /at least 10 characters/],
    ["Ines", "Password1234", /too easy to guess/],
    ["Ines", "aaaaaaaaaaaaaa", /too easy to guess/],
    ["Ines", email.toUpperCase(), /must not be the email/],
    ["Ines", "é".repeat(501), /at most 1,000 bytes/],
    [" ", newPassword, /Enter your name/],
  ] as const) {
    const answer = await openBrowser(app).submit(pathOf(link.url), { name, password: word });
    assert.equal(answer.status, 400, word);
    assert.match(answer.text, reason);
  }
  assert.equal(
    (await openBrowser(app).submit(pathOf(link.url), { name: "I", password: newPassword })).status,
    303,
  );
});

test("a link ends when a newer one is created, when it expires and when the account is deactivated", async () => {
  const { user, link } = await invite();
  const newer = await manage("POST", `/users/${user.id}/invitation`);
  assert.equal((await openBrowser(app).get(pathOf(link.url))).status, 404);
  assert.equal((await openBrowser(app).get(pathOf(newer.body.url))).status, 200);
  // A link of one purpose is worth nothing for another.
  const crossed = pathOf(newer.body.url).replace("/invitations/", "/password-reset/");
  assert.equal((await openBrowser(app).get(crossed)).status, 404);
  await app.db.pool.query(
    "update one_time_links set expires_at = now() - interval '1 second' where user_id = $1",
    [user.id],
  );
  assert.equal((await openBrowser(app).get(pathOf(newer.body.url))).status, 404);
  const third = await manage("POST", `/users/${user.id}/invitation`);
  await manage("POST", `/users/${user.id}/deactivate`);
  await manage("POST", `/users/${user.id}/reactivate`);
  assert.equal((await openBrowser(app).get(pathOf(third.body.url))).status, 404);
});

test("reset by an admin: the link works for a day and ends all sessions and the old password", async () => {
  const person = await userWithPassword();
  const before = await signInAs(app, person);
  const made = await manage("POST", `/users/${person.id}/password-reset-link`);
  const hours = (Date.parse(made.body.expires_at) - Date.now()) / 3_600_000;
  assert.ok(hours > 23.99 && hours <= 24);
  assert.equal((await before.get("/_/api/v1/session/me")).status, 200);
  const browser = openBrowser(app);
  assert.equal((await browser.submit(pathOf(made.body.url), { password: newPassword })).status, 303);
  assert.equal((await before.get("/_/api/v1/session/me")).status, 401);
  assert.equal((await browser.get("/_/api/v1/session/me")).status, 200);
  assert.equal((await openBrowser(app).submit("/sign-in", { email: person.email, password })).status, 401);
  const log = await auditOf(app.db, workspace.id);
  const about = log.filter((row) => row.subject_id === person.id).map((row) => row.action);
  assert.deepEqual(about, ["password_reset_link_made", "password_changed"]);
});

test("reset by email: the response is the same for everyone; only accounts get an email", async () => {
  await deleteAllAttempts(app.db);
  const person = await userWithPassword();
  const gone = await userWithPassword();
  await manage("POST", `/users/${gone.id}/deactivate`);
  const answers = [];
  for (const email of [person.email, "nobody@nowhere.example", gone.email]) {
    const answer = await openBrowser(app).submit("/password-reset", { email });
    answers.push([answer.status, answer.text]);
  }
  assert.equal(answers[0]?.[0], 200);
  assert.deepEqual(answers[1], answers[0]);
  assert.deepEqual(answers[2], answers[0]);
  const mail = await mailTo(person.email);
  const row = await app.db.kysely
    .selectFrom("one_time_links")
    .select("expires_at")
    .where("user_id", "=", person.id)
    .executeTakeFirstOrThrow();
  assert.ok(row.expires_at.getTime() - Date.now() <= 3_600_000);
  assert.equal((await openBrowser(app).submit(linkIn(mail.text), { password: newPassword })).status, 303);
  assert.equal(
    (await openBrowser(app).submit("/sign-in", { email: person.email, password: newPassword })).status,
    303,
  );
  // Everything was handled, and nothing went to the others.
  await until("the queue is empty", async () => {
    const { rowCount } = await app.db.pool.query(
      "select 1 from jobs where name in ('send_mail', 'request_password_reset')",
    );
    return rowCount === 0;
  });
  assert.equal(
    mails.filter(({ to }) => to.includes(gone.email) || to.includes("nobody@nowhere.example")).length,
    0,
  );
});

test("reset by email: a request keeps an admin's link; the email points to that link", async () => {
  await deleteAllAttempts(app.db);
  const person = await userWithPassword();
  const made = await manage("POST", `/users/${person.id}/password-reset-link`);
  await openBrowser(app).submit("/password-reset", { email: person.email });
  await until("a mail about the admin's link", () =>
    mails.find(
      ({ to, text }) =>
        to.includes(person.email) && /An admin .* has already created a reset link/.test(text),
    ),
  );
  const { rows } = await app.db.pool.query("select expires_at from one_time_links where user_id = $1", [
    person.id,
  ]);
  assert.equal(rows[0].expires_at.toISOString(), made.body.expires_at);
  assert.equal((await openBrowser(app).submit(pathOf(made.body.url), { password: newPassword })).status, 303);
  // Once it is used, a link by mail can be had again.
  await openBrowser(app).submit("/password-reset", { email: person.email });
  await until("a mail with a link of its own", () =>
    mails.find(
      ({ to, text }) =>
        to.includes(person.email) &&
        text.includes("/password-reset/") &&
        linkIn(text) !== pathOf(made.body.url),
    ),
  );
});

test("reset by email: every request only queues a job, whether or not the account exists", async () => {
  const own = await makeWorkspace(silent.db);
  const { jobs, db } = silent;
  const { requestPasswordReset } = await import("./password-reset.ts");
  const request = { ip: "192.0.2.1", headers: {} } as never;
  for (const email of [own.member.email, "nobody@nowhere.example"])
    assert.equal(await requestPasswordReset({ db, jobs }, request, email), 0);
  const { rows } = await db.pool.query("select data from jobs where name = 'request_password_reset'");
  assert.deepEqual(
    rows.map((row) => row.data.email).sort(),
    [own.member.email, "nobody@nowhere.example"].sort(),
  );
  assert.equal((await db.pool.query("select 1 from one_time_links")).rowCount, 0);
});

test("reset by email: recipients are not flooded, and an IP prefix that asks too often waits", async () => {
  await deleteAllAttempts(app.db);
  const person = await userWithPassword();
  const statuses = [];
  for (let round = 0; round < 25; round++)
    statuses.push((await openBrowser(app).submit("/password-reset", { email: person.email })).status);
  assert.deepEqual(new Set(statuses.slice(0, 20)), new Set([200]));
  assert.ok(statuses.includes(429), String(statuses));
  await mailTo(person.email);
  await until("all is sent", async () => {
    const { rowCount } = await app.db.pool.query("select 1 from jobs where name = 'send_mail'");
    return rowCount === 0;
  });
  assert.ok(mails.filter(({ to }) => to.includes(person.email)).length <= 4);
  await deleteAllAttempts(app.db);
});

test("invitation: an email address gets five a day, and further ones are refused without ending the last link", async () => {
  const { email, user } = await invite();
  const replace = () => manage("POST", `/users/${user.id}/invitation`, {});
  let last = "";
  for (let count = 2; count <= 5; count += 1) {
    const { status, body, text } = await replace();
    assert.equal(status, 200, text);
    last = body.url;
  }
  await until("five emails", () => mails.filter(({ to }) => to.includes(email)).length === 5);
  const refused = await replace();
  assert.equal(refused.status, 429);
  assert.match(refused.body.detail, /^5 emails of this kind were sent to this email address today/);
  assert.ok(Number(refused.headers.get("retry-after")) <= 86_400);
  assert.equal((await openBrowser(app).get(pathOf(last))).status, 200);
  assert.equal(mails.filter(({ to }) => to.includes(email)).length, 5);
  // The next day.
  await app.db.pool.query("update mail_counts set day = day - 1");
  // Removing old counts never waits for an email that is being counted, which might wait for it.
  await app.db.kysely.transaction().execute(async (tx) => {
    await sql`set local idle_in_transaction_session_timeout = '5s'`.execute(tx);
    await sql`select 1 from mail_counts for update`.execute(tx);
    await deleteOldMailCounts(app.db.kysely);
  });
  assert.equal((await replace()).status, 200);
  await deleteOldMailCounts(app.db.kysely);
  assert.deepEqual((await app.db.pool.query("select distinct count from mail_counts")).rows, [{ count: 1 }]);
});

test("names in emails are quoted and short, and nothing in them becomes a link", () => {
  for (const [name, shown] of [
    ["Ada Lovelace", "“Ada Lovelace”"],
    ["J.R. O'Neill-Smith, Jr.", "“J.R. O'Neill-Smith, Jr.”"],
    ["URGENT: verify at https://evil.example/login?x=1", "“URGENT: verify at https evil example login?x=1”"],
    ["www.evil.example", "“www evil example”"],
    ["evil。example", "“evil example”"],
    ["evil．example", "“evil example”"],
    ["ada@evil.example", "“ada evil example”"],
    ["Call +1-555-123-4567", "“Call …”"],
    ["Call +1 (555) 123 4567 now", "“Call … now”"],
    ["Team 2026, Berlin 10", "“Team 2026, Berlin 10”"],
    ["two\r\nlines\u202e", "“two lines”"],
    ['“Ada” "x"', "“'Ada' 'x'”"],
    ["a".repeat(500), `“${"a".repeat(59)}…”`],
  ] as const)
    assert.equal(`“${quotableName(name)}”`, shown);
});

test("email: retried while the mail server fails, not retried after a permanent refusal", async () => {
  await deleteAllAttempts(app.db);
  smtp.refuseWith(451);
  const { email } = await invite();
  await until("a first attempt failed", async () => {
    const { rowCount } = await app.db.pool.query(
      "select 1 from jobs where name = 'send_mail' and error is not null",
    );
    // Emails of other tests may still wait, which fail as well.
    return (rowCount ?? 0) > 0;
  });
  const { rows } = await app.db.pool.query(
    "select error from jobs where name = 'send_mail' and error is not null",
  );
  assert.match(rows[0].error, /451 <\[recipient\]>: not now/);
  smtp.refuseWith(null);
  await mailTo(email);
  smtp.refuseWith(550);
  const other = await invite();
  await until("the mail job fails", async () => {
    const { rowCount } = await app.db.pool.query("select 1 from jobs where name = 'send_mail'");
    return rowCount === 0;
  });
  smtp.refuseWith(null);
  assert.equal(
    mails.some(({ to }) => to.includes(other.email)),
    false,
  );
});

test("without a mail server: the page says to ask an admin, and links are not emailed", async () => {
  const own = await makeWorkspace(silent.db);
  const page = await openBrowser(silent).get("/password-reset");
  assert.match(page.text, /Email isn(&#39;|')t set up on this server\. Ask an admin/);
  const answer = await openBrowser(silent).send("POST", "/password-reset", {
    form: { email: own.admin.email },
  });
  assert.match(answer.text, /Email isn(&#39;|')t set up on this server\. Ask an admin/);
  const invited = await call(
    silent,
    "POST",
    "/_/api/v1/users",
    { email: `x@${own.domain}`, name: "X" },
    { token: own.admin.token, version: null },
  );
  assert.equal(invited.body.invitation.mailed, false);
});
