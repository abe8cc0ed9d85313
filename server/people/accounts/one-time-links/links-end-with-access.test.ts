import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { givePassword, openBrowser } from "../test/accounts.ts";
import { startMailServer } from "../test/mail.ts";

const smtp = await startMailServer();
after(() => smtp.close());
const app = await startTestApp({
  env: { PARLEY_SMTP_URL: smtp.url, PARLEY_SMTP_FROM: "Parley <parley@parley.test>" },
});
const workspace = await makeWorkspace(app.db);

const manage = (method: string, path: string, token: string, body?: object) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

/** Links that a second admin creates: an invitation by one token and a password reset by the same. */
async function makeLinks() {
  const rogue = await makeUser(app.db, workspace, { role: "admin" });
  const created = await manage("POST", "/tokens", rogue.token, {
    type: "personal_access_token",
    name: "found",
  });
  assert.equal(created.status, 200, created.text);
  const target = await makeUser(app.db, workspace);
  await givePassword(app.db, target);
  const reset = await manage("POST", `/users/${target.id}/password-reset-link`, created.body.token);
  assert.equal(reset.status, 200, reset.text);
  const email = `invited-${crypto.randomUUID()}@${workspace.domain}`;
  const invited = await manage("POST", "/users", created.body.token, { email, name: "Ines Vidal" });
  assert.equal(invited.status, 200, invited.text);
  return {
    rogue,
    tokenId: created.body.id as string,
    links: [reset.body.url, invited.body.invitation.url].map((url: string) => new URL(url).pathname),
    emails: [target.email, email],
  };
}

const works = async (path: string) => (await openBrowser(app).get(path)).status === 200;

const ends: Readonly<
  Record<string, (made: Awaited<ReturnType<typeof makeLinks>>) => Promise<{ status: number }>>
> = {
  "the token that created them is revoked": ({ tokenId }) =>
    manage("DELETE", `/tokens/${tokenId}`, workspace.admin.token),
  "the admin who created them is deactivated": ({ rogue }) =>
    manage("POST", `/users/${rogue.id}/deactivate`, workspace.admin.token),
  "the admin who created them is demoted": ({ rogue }) =>
    manage("PATCH", `/users/${rogue.id}`, workspace.admin.token, { role: "member" }),
};
for (const [how, end] of Object.entries(ends))
  test(`handed-over invitation and password links stop working when ${how}; their mailed copies stay`, async () => {
    const made = await makeLinks();
    for (const path of made.links) assert.equal(await works(path), true, path);
    assert.equal((await end(made)).status, 200);
    for (const path of made.links) assert.equal(await works(path), false, path);
    for (const email of made.emails) {
      const mail = await until(`a mail to ${email}`, () =>
        smtp.mails.findLast((each) => each.to.includes(email)),
      );
      const [url = ""] = /http:\/\/parley\.test\/\S+/.exec(mail.text) ?? [];
      assert.equal(await works(new URL(url).pathname), true, email);
    }
  });

test("a link that is created while its token is revoked does not work afterwards", async () => {
  for (let round = 0; round < 5; round++) {
    const admin = await makeUser(app.db, workspace, { role: "admin" });
    const token = await manage("POST", "/tokens", admin.token, {
      type: "personal_access_token",
      name: "found",
    });
    const people = await Promise.all([1, 2, 3, 4].map(() => makeUser(app.db, workspace)));
    const [, ...links] = await Promise.all([
      manage("DELETE", `/tokens/${token.body.id}`, workspace.admin.token),
      ...people.map(({ id }) => manage("POST", `/users/${id}/password-reset-link`, token.body.token)),
    ]);
    for (const { status, body, text } of links) {
      assert.ok([200, 401, 403].includes(status), text);
      if (status === 200) assert.equal(await works(new URL(body.url).pathname), false);
    }
  }
});

test("links of other admins and tokens keep working when one loses its access", async () => {
  const made = await makeLinks();
  const other = await makeUser(app.db, workspace);
  await givePassword(app.db, other);
  const reset = await manage("POST", `/users/${other.id}/password-reset-link`, workspace.admin.token);
  await ends["the token that created them is revoked"]?.(made);
  assert.equal(await works(new URL(reset.body.url).pathname), true);
});
