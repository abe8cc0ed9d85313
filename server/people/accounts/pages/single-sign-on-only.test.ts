import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace } from "../../../../test/support/factories.ts";
import * as oauth from "../../../../test/support/oauth.ts";
import { givePassword, openBrowser, password } from "../test/accounts.ts";

const app = await startTestApp({
  env: {
    PARLEY_OIDC_ISSUER: "https://id.tidewater.test",
    PARLEY_OIDC_CLIENT_ID: "parley",
    PARLEY_OIDC_CLIENT_SECRET: "a secret between the two of us",
    PARLEY_OIDC_NAME: "Tidewater ID",
  },
});

const hasPassword = (page: string) => page.includes('type="password"');
const hasProvider = (page: string) => page.includes("Sign in with Tidewater ID");

/** Turns single sign-on only on, with the admin as the one who gets in otherwise. */
async function requireFor(workspace: { readonly id: string; readonly admin: { readonly id: string } }) {
  const rules = {
    ...{ second_factor: "nobody", grace_days: 14, allowed_addresses: [] },
    ...{ session_max_hours: null, session_idle_minutes: null, token_max_days: null },
    ...{ single_sign_on_only: true, single_sign_on_since: new Date().toISOString() },
    ...{ break_glass_user_id: workspace.admin.id, all_since: null, admins_since: null },
  };
  await sql`update workspaces set security_rules = ${JSON.stringify(rules)}::jsonb
    where id = ${workspace.id}`.execute(app.db.kysely);
}

test("where single sign-on is required, sign-in pages offer it alone, and a way in for the break-glass admin", async () => {
  await sql`delete from workspaces`.execute(app.db.kysely);
  const workspace = await makeWorkspace(app.db);
  await givePassword(app.db, workspace.admin, workspace.member);
  const client = await oauth.makeClient(app, workspace);
  const consent = oauth.authorizeUrl(client, {
    code_challenge: oauth.makePkce().challenge,
    code_challenge_method: "S256",
  });
  const show = async (path: string) => (await openBrowser(app).get(path)).text;
  for (const path of ["/sign-in", consent]) assert.ok(hasPassword(await show(path)), path);
  await requireFor(workspace);
  const page = await show("/sign-in?next=/stories");
  assert.deepEqual([hasPassword(page), hasProvider(page)], [false, true]);
  const emergency = /href="(\/sign-in\?with=password[^"]*)"/.exec(page)?.[1]?.replaceAll("&amp;", "&");
  assert.equal(emergency, "/sign-in?with=password&next=%2Fstories");
  const authorize = await show(consent);
  assert.ok(!hasPassword(authorize) && authorize.includes("Continue with single sign-on"));
  const browser = openBrowser(app);
  const member = await browser.submit(emergency, { email: workspace.member.email, password });
  assert.deepEqual([member.status, hasPassword(member.text), hasProvider(member.text)], [403, false, true]);
  const wrong = await browser.submit(emergency, { email: workspace.admin.email, password: "wrong" });
  assert.deepEqual([wrong.status, hasPassword(wrong.text)], [401, true]);
});

test("with several workspaces the email decides, by its domain: the page says nothing about accounts", async () => {
  const [strict, open] = [await makeWorkspace(app.db), await makeWorkspace(app.db)];
  await givePassword(app.db, strict.member, open.member);
  await requireFor(strict);
  await sql`
    insert into email_domain_claims (domain, workspace_id, token, claimed_by, claimed_at)
    values ('strict.test', ${strict.id}, 'token', 'operator', now())`.execute(app.db.kysely);
  assert.ok(hasPassword((await openBrowser(app).get("/sign-in")).text));
  for (const email of ["known@strict.test", "unknown@strict.test"]) {
    if (email.startsWith("known"))
      await sql`update users set email = ${email} where id = ${strict.member.id}`.execute(app.db.kysely);
    for (const given of [password, "wrong"]) {
      const answer = await openBrowser(app).submit("/sign-in", { email, password: given });
      assert.deepEqual(
        [answer.status, hasPassword(answer.text), hasProvider(answer.text)],
        [200, false, true],
        `${email} ${given}`,
      );
    }
  }
  const other = await openBrowser(app).submit("/sign-in", { email: open.member.email, password });
  assert.equal(other.status, 303, other.text);
});
