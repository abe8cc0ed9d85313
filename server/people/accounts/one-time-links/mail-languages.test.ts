import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type NotificationKind,
  notificationKindNames,
} from "../../../../contract/workspace/notification-kinds.ts";
import { languages } from "../../../../shared/languages.ts";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { hasEnglish } from "../../../../test/support/english-words.ts";
import { makeUser, makeWorkspace, type TestUser } from "../../../../test/support/factories.ts";
import { openSignedIn } from "../../../../test/support/oauth.ts";
import { until } from "../../../../test/support/until.ts";
import { composeMessage, sampleRecording } from "../../../connections/deliveries/content.ts";
import { emailOf } from "../../../connections/deliveries/email.ts";
import { switchedOffMail, switchOff } from "../../../connections/deliveries/switch-off.ts";
import { jobKinds } from "../../../jobs.ts";
import { testMessage } from "../../../operations/system/health/test-component.ts";
import { openJobQueue } from "../../../platform/jobs/queue.ts";
import { createI18n, type I18n, i18nFor } from "../../../platform/language/i18n.ts";
import type { NotificationRow } from "../../../sharing/notifications/queries.ts";
import { renderEmail } from "../../../sharing/notifications/render-email.ts";
import { mailNewDevice } from "../security/new-device-mail.ts";
import { openBrowser } from "../test/accounts.ts";
import { startMailServer } from "../test/mail.ts";
import { type Change, mailOf, tell } from "./account-changes.ts";
import { type OutgoingMail, sendMail } from "./mailer.ts";
import { invitationMail, passwordResetMail, resetWaitsMail } from "./mails.ts";

const smtp = await startMailServer();
after(() => smtp.close());
const from = "Parley <parley@parley.test>";
const app = await startTestApp({ env: { PARLEY_SMTP_URL: smtp.url, PARLEY_SMTP_FROM: from } });
const { db } = app;
const workspace = await makeWorkspace(db);
const { admin } = workspace;
const { kinds } = openJobQueue(jobKinds);

/** The subjects of the emails to a user, decoded, once there are `count`. Source: RFC 2047, section 4. */
async function subjectsTo({ email }: Pick<TestUser, "email">, count: number): Promise<string[]> {
  const found = await until(`${count} emails to ${email}`, () => {
    const mails = smtp.mails.filter(({ to }) => to.includes(email));
    return mails.length >= count && mails;
  });
  return found.map(({ raw }) => {
    const line = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(raw)?.[1] ?? "";
    return line
      .replaceAll(/\?=\s+=\?/g, "?==?")
      .replaceAll(/=\?UTF-8\?([BQ])\?([^?]*)\?=/gi, (_word, encoding: string, text: string) =>
        encoding.toUpperCase() === "B"
          ? Buffer.from(text, "base64").toString()
          : decodeURIComponent(text.replaceAll("_", " ").replaceAll("%", "%25").replaceAll("=", "%")),
      );
  });
}

async function choose(user: Pick<TestUser, "token">, language: string | null): Promise<void> {
  const response = await call(
    app,
    "PATCH",
    "/_/api/v1/me",
    { language },
    { token: user.token, version: null },
  );
  assert.equal(response.status, 200, response.text);
}

test("an invitation is in the language and time zone of the user who invites", async () => {
  const email = `new@${workspace.domain}`;
  await choose(admin, "en-XA");
  await db.pool.query("update users set browser_time_zone = 'Asia/Kolkata' where id = $1", [admin.id]);
  await call(
    app,
    "POST",
    "/_/api/v1/users",
    { email, name: "Ines Vidal" },
    { token: admin.token, version: null },
  );
  const [subject] = await subjectsTo({ email }, 1);
  assert.match(subject ?? "", /^“~User .*” íñvíţéð ýóú ţó “[~ ]+Workspace .*”~$/);
  const mail = smtp.mails.find(({ to }) => to.includes(email));
  assert.match(mail?.text ?? "", /^Héļļó [~ ]+Ines Vidal,~\r?$/m);
  assert.match(mail?.text ?? "", / [AP]M GMT\+5:30/);
  assert.match(mail?.raw ?? "", /^Content-Language: en-XA\r?$/m);
});

test("a password reset is in the account's language, else in that of the page it was requested on", async () => {
  const user = await makeUser(db, workspace);
  const request = async (language: string) => {
    const headers = { "accept-language": language, origin: app.url, "sec-fetch-site": "same-origin" };
    const options = { form: { email: user.email }, headers };
    assert.equal((await openBrowser(app).send("POST", "/password-reset", options)).status, 200);
  };
  await request("en-XA,en;q=0.5");
  assert.match((await subjectsTo(user, 1)).at(-1) ?? "", /^Ŕéšéţ ýóúŕ/);
  await choose(user, "ar-XB");
  await request("en-XA");
  assert.equal((await subjectsTo(user, 2)).at(-1), "\u202eReset your password\u202c");
});

test("emails about an account and its deliveries are in its language, not in that of who caused them", async () => {
  const user = await makeUser(db, workspace, { role: "admin" });
  await choose(user, "en-XA");
  const hook = await call(
    app,
    "POST",
    "/_/api/v1/deliveries",
    { name: "Team room", kind: "markdown" },
    { token: user.token, version: null },
  );
  assert.equal(hook.status, 200, hook.text);
  await db.kysely.transaction().execute(async (tx) => {
    await mailNewDevice(tx, mailOf(app), user.id, { ip: "192.0.2.1", userAgent: "Firefox/1 Linux" });
    await tell(tx, mailOf(app), user.id, "passkey_added");
  });
  await switchOff(app, { id: hook.body.id, name: "Team room" }, "it is gone");
  const subjects = (await subjectsTo(user, 3)).sort();
  assert.match(subjects[0] ?? "", /^Páŕļéý ñó ļóñĝéŕ šéñðš ţó [~ ]+Team room$/);
  assert.match(subjects[2] ?? "", /^Ñéŵ šíĝñ-íñ ţó Páŕļéý[~ ]+$/);
  assert.match(subjects[1] ?? "", /^Å pášškéý ŵáš áððéð[~ ]+$/);
  const device = smtp.mails.find(({ to, text }) => to.includes(user.email) && text.includes("192.0.2.1"));
  assert.match(device?.text ?? "", /Firefox óñ ~Linux/);
  assert.match(device?.text ?? "", / UTC~*\./);
});

/** Every change that users are notified of. */
const changes: Readonly<Record<Change, true>> = {
  second_factor_turned_on: true,
  second_factor_turned_off: true,
  second_factor_reset: true,
  recovery_codes_replaced: true,
  passkey_added: true,
  passkey_removed: true,
  single_sign_on_bound: true,
  single_sign_on_unbound: true,
};

const at = new Date("2027-03-05T20:04:00Z");
/** In which `at` is on the next day. */
const timeZone = "Asia/Tokyo";

type Facts = Partial<NotificationRow>;

const actor = { id: "1", name: "Άννα", email: "anna@example.com" };
const states = [null, "done", "failed", "canceled"];
const problems = ["disk_full", "disk_nearly_full", "overdue_backups", "backup", "removal_of_backups"];

/** Every kind of notification, with facts for each text that it may have. */
const facts: Readonly<Record<NotificationKind, readonly Facts[]>> = {
  mentioned: [{ actor, comment_ms: 3_661_000 }, {}],
  replied: [{ actor }, {}],
  shared: [{ actor }, {}, { actor, data: { is_team: true } }, { data: { is_team: true } }],
  access_requested: [{ actor }, {}],
  access_granted: [{ actor }, {}],
  action_item_assigned: [1, 2].map((count) => ({
    items: Array.from({ length: count }, () => ({ text: "Κοίτα", timestamp_ms: 4000 })),
  })),
  recording_ready: states.flatMap((transcript) =>
    states.map((summary) => ({ data: { transcript, summary } })),
  ),
  upload_failed: [
    { upload_title: "Λιμάνι" },
    {},
    {
      failure_causes: [
        { code: "file_too_big", values: { bytes: 3e9, max: 2e9 } },
        { code: "file_expired", values: { time: "2025-01-02T03:04:05Z" } },
      ],
    },
  ],
  import_ended: states.map((import_state) => ({ import_state, import_error: "the file is not an export" })),
  backup_failed: [...problems, "verification"].map((problem) => ({
    data: { problem, text: "the disk failed" },
  })),
  disk_nearly_full: [{ data: { problem: "disk_full", text: "the disk is full" } }],
  job_failing: [
    { data: { job: "Ναύτης" } },
    ...jobKinds.map(({ name: kind }) => ({
      data: { job: kind, failing: { kind, count: 3, attempts: 20, error: "Σφάλμα" } },
    })),
  ],
};

const notifications = notificationKindNames.flatMap((kind) =>
  facts[kind].map(
    (given, index): NotificationRow => ({
      ...{
        id: `${kind} ${index}`,
        kind,
        subject_id: "2",
        data: {},
        actor: null,
        created_at: at,
        read_at: null,
      },
      ...{
        recording_id: "1",
        recording_title: "Λιμάνι",
        comment: "Καλημέρα",
        comment_ms: null,
        mentions: [],
      },
      ...{
        upload_title: null,
        failure_reason: "the file has no sound",
        failure_causes: null,
        import_state: null,
        import_error: null,
      },
      items: [],
      ...given,
    }),
  ),
);

/** Emails to a user, of every kind but those that changes of the account send. */
function renderedMails(i18n: I18n, to: { readonly email: string; readonly name: string }): OutgoingMail[] {
  const user = { ...to, email_time_zone: timeZone };
  const url = "http://parley.test";
  const link = { url, expiresAt: at };
  const render = (rows: readonly NotificationRow[]): OutgoingMail => ({
    to: user.email,
    ...renderEmail(i18n, user, rows, { baseUrl: url, kinds, unsubscribe: url }),
  });
  const aboutNone = notifications.map((row) => ({ ...row, recording_id: null, recording_title: null }));
  return [
    invitationMail(i18n, { ...user, workspace_name: "Θάλασσα" }, { name: "Άννα", timeZone }, link),
    passwordResetMail(i18n, user, link),
    resetWaitsMail(i18n, user, at),
    ...[notifications, aboutNone].flatMap((rows) => [render(rows), ...rows.map((row) => render([row]))]),
    switchedOffMail(i18n, user.email, { name: "Λιμάνι", baseUrl: url }),
    emailOf(composeMessage({ i18n, timeZone }, sampleRecording(i18n, url, true), url, null), user.email, url),
    testMessage(i18n, user.email, url),
  ];
}

/** The emails about changes of a user's account, as they are queued. */
async function queuedMails({ id, email }: Pick<TestUser, "id" | "email">): Promise<OutgoingMail[]> {
  return db.kysely.transaction().execute(async (tx) => {
    for (const userAgent of ["Firefox/1 Linux", "Firefox/1", "?"])
      await mailNewDevice(tx, mailOf(app), id, { ip: "192.0.2.1", userAgent });
    for (const change of Object.keys(changes) as Change[])
      await tell(tx, mailOf(app), id, change, ["Λιμάνι", "Θάλασσα"]);
    const queued = await tx.selectFrom("jobs").select("data").where("name", "=", "send_mail").execute();
    return queued
      .map(({ data }) => {
        const { encrypted } = data as { readonly encrypted: string };
        return JSON.parse(app.encryptor.decrypt(Buffer.from(encrypted, "base64"))).mail as OutgoingMail;
      })
      .filter(({ to }) => to === email);
  });
}

/** What an email shows, without what is marked as English. */
function wordsOf({ subject, text, html }: OutgoingMail): string {
  const shown = html
    ?.replaceAll(/<style>.*?<\/style>|<(\w+) lang="en">.*?<\/\1>/gs, " ")
    .replaceAll(/<[^>]*>/g, " ");
  return `${subject}\n${shown ?? text}`;
}

test("emails of every kind are complete in each language, that of the user's browser, with its dates", async () => {
  const warnings: string[] = [];
  const listen = ({ message }: Error): unknown => warnings.push(message);
  process.on("warning", listen);
  for (const language of Object.keys(languages)) {
    const user = { ...(await makeUser(db, workspace)), name: "Βίκτωρ" };
    await db.kysely.updateTable("users").set({ name: user.name }).where("id", "=", user.id).execute();
    const browser = openBrowser(app);
    for (const [name, value] of (await openSignedIn(app, user)).cookies) browser.cookies.set(name, value);
    await browser.get("/", { "accept-language": `xx,${language};q=0.5` });
    const mails = [...(await queuedMails(user)), ...renderedMails(await i18nFor(language), user)];
    assert.ok(mails.length > 40, `${mails.length} emails`);
    const date = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone }).format(at);
    assert.equal(mails.filter(({ text }) => text.includes(date)).length, 3, `emails with ${date}`);
    for (const mail of mails) {
      assert.equal(mail.language, language, mail.subject);
      if (mail.html !== undefined) assert.match(mail.html, new RegExp(`<html lang="${language}" dir="ltr">`));
      if (language === "de") assert.ok(!hasEnglish(wordsOf(mail)), wordsOf(mail));
    }
  }
  process.off("warning", listen);
  assert.deepEqual(warnings, []);
});

test("quotes are those of the language, and a name can't end them", async () => {
  const text = "“{inviter}” invited you to “{workspace}”";
  const german = new Map([[text, "„{inviter}“ hat Sie zu „{workspace}“ eingeladen"]]);
  const mail = invitationMail(
    await createI18n("de", german),
    { email: "ada@example.com", name: "Ada", workspace_name: "Grün“ und „Blau" },
    { name: "Jörg", timeZone: null },
    { url: "http://parley.test/invitation/x", expiresAt: new Date("2026-11-28T20:04:00Z") },
  );
  await sendMail({ url: smtp.url, from }, mail);
  assert.deepEqual(await subjectsTo({ email: "ada@example.com" }, 1), [
    "„Jörg“ hat Sie zu „Grün' und 'Blau“ eingeladen",
  ]);
  assert.match(mail.text, /28\. November 2026 um 20:04 UTC/);
});
