import assert from "node:assert/strict";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { insertRecording, makeUser, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { auditOf } from "../../people/accounts/test/accounts.ts";
import { startMailServer } from "../../people/accounts/test/mail.ts";
import { deleteOldRequests } from "./request.ts";

const smtp = await startMailServer();
after(() => smtp.close());
const app = await startTestApp({
  env: { PARLEY_SMTP_URL: smtp.url, PARLEY_SMTP_FROM: "parley@parley.test" },
});
const { db } = app;
const workspace = await makeWorkspace(db);
const owner = workspace.member;

const send = (token: string, method: string, path: string) =>
  call(app, method, `/_/api/v1/recordings/${path}`, undefined, { token, version: null });
const request = (token: string, id: string) => send(token, "POST", `${id}/access-requests`);
const listed = async (id: string, token = owner.token) =>
  (await send(token, "GET", `${id}/access-requests`)).body.requests;
const newUser = () => makeUser(db, workspace);
const newRecording = () => insertRecording(db, { recorderId: owner.id, title: "Heron 2" });

/** Until the jobs of all earlier requests have run. */
const settled = () =>
  until("requests are processed", async () => {
    const { rowCount } = await db.pool.query(
      "select 1 from jobs where name in ('request_access', 'email_notifications')",
    );
    return rowCount === 0;
  });
const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email));

test("a request is listed and mailed to the recorder once; granting shares the recording and notifies the user", async () => {
  const [id, user] = [await newRecording(), await newUser()];
  for (const _ of [1, 2]) assert.deepEqual((await request(user.token, id)).body, { success: true });
  await settled();
  assert.deepEqual(
    (await listed(id)).map((one: { user: { id: string } }) => one.user.id),
    [user.id],
  );
  const mails = mailsTo(owner.email);
  assert.equal(mails.length, 1);
  assert.match(mails[0]?.text ?? "", new RegExp(`/recordings/${id}\\?share=true`));
  assert.equal((await send(owner.token, "POST", `${id}/access-requests/${user.id}`)).status, 200);
  assert.equal((await send(user.token, "GET", id)).status, 200);
  assert.deepEqual(await listed(id), []);
  assert.equal((await send(owner.token, "POST", `${id}/access-requests/${user.id}`)).status, 404);
  await settled();
  assert.match(mailsTo(user.email)[0]?.text ?? "", /Heron 2/);
  const actions = (await auditOf(db, workspace.id)).filter((entry) => entry.subject_id === id);
  assert.deepEqual(
    actions.filter(({ action }) => action !== "recording_viewed").map(({ action }) => action),
    ["recording_access_requested", "recording_shared"],
  );
});

test("the response is the same for a hidden, an unknown, a visible and another workspace's recording; only the hidden one is stored", async () => {
  const user = await newUser();
  const elsewhere = await insertRecording(db, { workspace_id: (await makeWorkspace(db)).id });
  const visible = await insertRecording(db, { recorderId: user.id });
  const hidden = await newRecording();
  const responses = [];
  for (const id of [hidden, unknownId(), visible, elsewhere]) {
    const { status, text, headers } = await request(user.token, id);
    responses.push({ status, text, names: [...headers.keys()].sort() });
  }
  for (const response of responses) assert.deepEqual(response, responses[0]);
  await settled();
  const { rows } = await db.pool.query("select recording_id from access_requests where user_id = $1", [
    user.id,
  ]);
  assert.deepEqual(rows, [{ recording_id: hidden }]);
});

test("a declined request is no longer listed, and repeating it has no effect", async () => {
  const [id, user] = [await newRecording(), await newUser()];
  await request(user.token, id);
  await settled();
  const before = mailsTo(owner.email).length;
  assert.equal((await send(owner.token, "DELETE", `${id}/access-requests/${user.id}`)).status, 200);
  assert.equal((await send(owner.token, "DELETE", `${id}/access-requests/${user.id}`)).status, 404);
  await request(user.token, id);
  await settled();
  assert.deepEqual(await listed(id), []);
  assert.equal(mailsTo(owner.email).length, before);
});

test("access by another way removes the request from the list; old requests are deleted", async () => {
  const [id, user] = [await newRecording(), await newUser()];
  await request(user.token, id);
  await settled();
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: user.id }, { token: owner.token });
  assert.deepEqual(await listed(id), []);
  await deleteOldRequests(db.kysely);
  await call(app, "DELETE", `/recordings/${id}/users/${user.id}`, undefined, { token: owner.token });
  assert.deepEqual(await listed(id), [], "it doesn't return when that access ends");
  await request((await newUser()).token, id);
  await settled();
  await db.pool.query("update access_requests set requested_at = now() - interval '31 days'");
  await deleteOldRequests(db.kysely);
  assert.equal((await db.pool.query("select 1 from access_requests")).rowCount, 0);
});

test("after ten requests a user has to wait; undecided requests are limited to 100", async () => {
  const user = await newUser();
  const statuses = [];
  for (let count = 1; count <= 12; count++) statuses.push((await request(user.token, unknownId())).status);
  assert.deepEqual(statuses.slice(0, 10), Array(10).fill(200));
  assert.equal(statuses.at(-1), 429);
  const busy = await newUser();
  await db.pool.query(
    `insert into access_requests (recording_id, user_id)
     select id, $1 from unnest($2::uuid[]) id`,
    [busy.id, await Promise.all(Array.from({ length: 100 }, newRecording))],
  );
  const id = await newRecording();
  await request(busy.token, id);
  await settled();
  assert.deepEqual(await listed(id), []);
});

test("a recording in the trash can't be requested: nobody gets an email or finds a request after it is restored", async () => {
  const [id, user] = [await newRecording(), await newUser()];
  const before = smtp.mails.length;
  await send(owner.token, "DELETE", id);
  assert.deepEqual((await request(user.token, id)).body, { success: true });
  await settled();
  assert.equal(smtp.mails.length, before);
  const path = `/_/api/v1/trash/${id}/restore`;
  assert.equal((await call(app, "POST", path, undefined, { token: owner.token, version: null })).status, 200);
  assert.deepEqual(await listed(id), []);
});

test("a recorder who is now a viewer can't decide: the admins who can see the recording get the email", async () => {
  const [viewer, admin, user] = [
    await newUser(),
    await makeUser(db, workspace, { role: "admin" }),
    await newUser(),
  ];
  const id = await insertRecording(db, { recorderId: viewer.id });
  await call(app, "PUT", `/recordings/${id}/users`, { user_id: admin.id }, { token: workspace.token });
  await db.pool.query("update users set role = 'viewer' where id = $1", [viewer.id]);
  await request(user.token, id);
  await settled();
  assert.equal(mailsTo(viewer.email).length, 0);
  assert.equal(mailsTo(admin.email).filter(({ text }) => /requests access/.test(text)).length, 1);
});

test("without an active recorder, the admins who can see the recording get the email", async () => {
  const [gone, user] = [await newUser(), await newUser()];
  const id = await insertRecording(db, { recorderId: gone.id });
  await call(
    app,
    "PUT",
    `/recordings/${id}/users`,
    { user_id: workspace.admin.id },
    { token: workspace.token },
  );
  await db.pool.query("update users set deactivated_at = now() where id = $1", [gone.id]);
  await request(user.token, id);
  await settled();
  assert.equal(mailsTo(workspace.admin.email).length, 1);
  assert.equal(mailsTo(gone.email).length, 0);
  assert.equal((await listed(id, workspace.admin.token)).length, 1);
});
