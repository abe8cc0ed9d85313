import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { call } from "../../../../test/support/app.ts";
import { prepareServer } from "../../../../test/support/server-process.ts";
import { until } from "../../../../test/support/until.ts";
import { hiddenFields, openBrowser } from "../test/accounts.ts";
import { startMailServer } from "../test/mail.ts";
import { clientSecret, startProvider } from "../test/provider.ts";

const smtp = await startMailServer();
const baseUrl = "http://parley.test";
const provider = await startProvider(0, baseUrl);
const server = await prepareServer({
  hasAccount: false,
  env: {
    PARLEY_BASE_URL: baseUrl,
    PARLEY_LOG_LEVEL: "trace",
    PARLEY_SMTP_URL: smtp.url,
    PARLEY_SMTP_FROM: "parley@parley.test",
    PARLEY_OIDC_ISSUER: provider.issuer,
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: clientSecret,
  },
});
after(async () => {
  await server.dispose();
  await provider.close();
  await smtp.close();
});
await server.start();

/** Every row of every table as text; bytes come as hexadecimal. */
async function dump(): Promise<string> {
  const client = new pg.Client({ connectionString: server.env.PARLEY_DATABASE_URL });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    assert.ok(tables.length > 30);
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select t::text as text from ${name} t`);
      texts.push(...rows.map(({ text }) => text));
    }
    return texts.join("\n");
  } finally {
    await client.end();
  }
}

test("neither log nor database contains passwords, cookies, tokens, links or codes", async () => {
  const secrets = new Map<string, string>();
  // Without a terminal, the first sign-in is in a file that only its owner can read.
  await until("the server has said where the sign-in is", () =>
    server.output().stdout.includes("first-sign-in.txt"),
  );
  const banner = readFileSync(join(server.env.PARLEY_DATA_DIR ?? "", "first-sign-in.txt"), "utf8");
  const first = /password {2}(\S+)/.exec(banner)?.[1] ?? "";
  const email = /email {5}(\S+)/.exec(banner)?.[1] ?? "";
  secrets.set("first password", first);
  secrets.set("first token", /Bearer (parley_pat_\S+?)"/.exec(banner)?.[1] ?? "");
  const keepCookie = (name: string, browser: { cookies: Map<string, string> }) =>
    secrets.set(name, browser.cookies.get("parley_session") ?? "");

  // Sign-in: wrong, right, as JSON.
  const admin = openBrowser(server);
  secrets.set("wrong password", "this-one-is-not-it-8271");
  await admin.submit("/sign-in", { email, password: secrets.get("wrong password") ?? "" });
  assert.equal((await admin.submit("/sign-in", { email, password: first })).status, 303);
  keepCookie("cookie", admin);
  secrets.set("form token", hiddenFields((await admin.get("/sign-out")).text).form_token ?? "");
  const json = openBrowser(server);
  await json.send("POST", "/_/api/v1/session", { json: { email, password: first } });
  keepCookie("cookie by JSON", json);

  // Tokens, sent also where they don't belong, and broken bodies.
  for (const type of ["personal_access_token", "workspace_access_token"]) {
    const made = await admin.send("POST", "/_/api/v1/tokens", { json: { type, name: "x" } });
    const { token } = made.body;
    secrets.set(type, token);
    await call(server, "POST", "/users", {}, { token });
    await call(server, "GET", `/nothing?access_token=${token}`, undefined, { token });
    await call(server, "POST", "/users", "", { token, raw: `{"token": ${token}` });
  }

  // An invitation, a reset by mail, a change.
  const invited = await admin.send("POST", "/_/api/v1/users", {
    json: { email: "ines@parley.local", name: "Ines" },
  });
  const invitation = new URL(invited.body.invitation.url).pathname;
  secrets.set("invitation", invitation.split("/").at(-1) ?? "");
  const ines = openBrowser(server);
  secrets.set("chosen password", "nine-herons-in-a-row-417");
  const fields = { name: "Ines", password: secrets.get("chosen password") ?? "" };
  assert.equal((await ines.submit(invitation, fields)).status, 303);
  keepCookie("cookie by link", ines);
  await openBrowser(server).submit("/password-reset", { email: "ines@parley.local" });
  const mail = await until("the mail is there", () =>
    smtp.mails.find(({ text }) => text.includes("/password-reset/")),
  );
  const reset = new URL(/http:\/\/parley\.test\/\S+/.exec(mail.text)?.[0] ?? "").pathname;
  secrets.set("reset link", reset.split("/").at(-1) ?? "");
  secrets.set("new password", "ten-herons-and-an-owl-417");
  const again = openBrowser(server);
  assert.equal((await again.submit(reset, { password: secrets.get("new password") ?? "" })).status, 303);
  secrets.set("last password", "eleven-herons-at-dusk-417");
  const changed = await again.send("POST", "/_/api/v1/me/password", {
    json: { current_password: secrets.get("new password"), new_password: secrets.get("last password") },
  });
  assert.equal(changed.status, 200, changed.text);

  // Single sign-on, successful and failed.
  provider.people.set("ines", { email: "ines@parley.local", email_verified: true });
  for (const isBroken of [true, false]) {
    const browser = openBrowser(server);
    const back = await provider.visit(browser, "ines");
    const code = new URL(back, baseUrl).searchParams.get("code") ?? "";
    secrets.set(`code ${isBroken}`, code);
    secrets.set(`departure ${isBroken}`, browser.cookies.get("parley_single_sign_on") ?? "");
    const answer = await browser.get(isBroken ? back.replace(/state=[^&]+/, "state=x") : back);
    assert.equal(answer.status, isBroken ? 400 : 303, answer.text);
    if (!isBroken) keepCookie("cookie by single sign-on", browser);
  }
  secrets.set("client secret", clientSecret);

  const [log, rows] = [server.output().stderr, await dump()];
  assert.ok(log.includes("responded") && rows.includes("ines@parley.local"));
  assert.equal(secrets.size, 20);
  for (const [name, secret] of secrets) {
    assert.ok(secret.length >= 16, `${name}: ${secret}`);
    const bytes = Buffer.from(secret);
    const forms = [secret, bytes.toString("hex"), bytes.toString("base64").slice(0, -4)];
    // The random part alone would do as well.
    const random = /^(?:parley_..._)?([\w-]{43})$/.exec(secret)?.[1];
    if (random) forms.push(random, Buffer.from(random, "base64url").toString("hex"));
    for (const form of forms) {
      assert.equal(log.includes(form), false, `${name} is in the log`);
      assert.equal(rows.includes(form), false, `${name} is in the database`);
    }
  }
});

test("the first account can sign in at the URL printed at startup", async () => {
  assert.match(server.output().stdout, /Sign in at {11}http:\/\/parley\.test\/sign-in/);
});
