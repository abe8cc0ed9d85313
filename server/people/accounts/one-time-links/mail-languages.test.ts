import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace, type TestUser } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { switchOff } from "../../../connections/deliveries/switch-off.ts";
import { createI18n } from "../../../platform/language/i18n.ts";
import { mailOf, tell } from "../second-factor/changes.ts";
import { mailNewDevice } from "../security/new-device-mail.ts";
import { openBrowser } from "../test/accounts.ts";
import { startMailServer } from "../test/mail.ts";
import { sendMail } from "./mailer.ts";
import { invitationMail } from "./mails.ts";

const smtp = await startMailServer();
after(() => smtp.close());
const from = "Parley <parley@parley.test>";
const app = await startTestApp({ env: { PARLEY_SMTP_URL: smtp.url, PARLEY_SMTP_FROM: from } });
const { db } = app;
const workspace = await makeWorkspace(db);
const { admin } = workspace;

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

test("an invitation is in the language of the user who invites", async () => {
  const email = `new@${workspace.domain}`;
  await choose(admin, "en-XA");
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
  assert.match(device?.text ?? "", /Firefox on Linux/);
});

test("quotes are those of the language, and a name can't end them", async () => {
  const text = "“{inviter}” invited you to “{workspace}”";
  const german = new Map([[text, "„{inviter}“ hat Sie zu „{workspace}“ eingeladen"]]);
  const mail = invitationMail(
    await createI18n("de", german),
    { email: "ada@example.com", name: "Ada", workspace_name: "Grün“ und „Blau" },
    "Jörg",
    { url: "http://parley.test/invitation/x", expiresAt: new Date("2026-11-28T20:04:00Z") },
  );
  await sendMail({ url: smtp.url, from }, mail);
  assert.deepEqual(await subjectsTo({ email: "ada@example.com" }, 1), [
    "„Jörg“ hat Sie zu „Grün' und 'Blau“ eingeladen",
  ]);
  assert.match(mail.text, /28\. November 2026 um 20:04 UTC/);
});
