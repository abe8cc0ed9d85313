import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { call, olderVersion, startTestApp, type TestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { until } from "../../../../test/support/until.ts";

const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" };

const create = (app: TestApp, token: string, hook_url: string) =>
  call(
    app,
    "POST",
    "/hooks/create",
    { hook_url, hook_type: "recording_added" },
    { token, version: olderVersion },
  );

test("hooks: concurrent requests of one user create exactly as many as the quota allows; deleting one allows another", async () => {
  const app = await startTestApp({ worker: false, env: { ...env, PARLEY_HOOKS_PER_USER: "4" } });
  const workspace = await makeWorkspace(app.db);
  const receiver = await startHookReceiver();
  const { token } = workspace.member;
  const answers = await Promise.all(Array.from({ length: 9 }, () => create(app, token, receiver.url)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 4);
  const tests = receiver.requests.length;
  const refused = await create(app, token, receiver.url);
  assert.deepEqual([refused.status, refused.body.error], [403, "quota_exceeded"]);
  assert.match(refused.body.detail, /^the limit of 4 hooks of one user is reached; delete one/);
  assert.equal(receiver.requests.length, tests, "no test request is sent for a hook that can't be created");
  assert.equal(
    (await create(app, workspace.admin.token, receiver.url)).status,
    200,
    "other users have their own quota",
  );
  const options = { token, version: olderVersion };
  const { body } = await call(app, "POST", "/hooks", {}, options);
  await call(app, "DELETE", `/hooks/${body.hooks[0].id}`, undefined, options);
  assert.equal((await create(app, token, receiver.url)).status, 200);
});

test("one host gets no more requests a minute than the limit, from any number of hooks and users; the rest follow later", async (context) => {
  // Requests are counted by clock minute: this one begins now.
  let aheadMs = 60_000 - (Date.now() % 60_000);
  const { now } = Date;
  const clock = mock.method(Date, "now", () => now() + aheadMs);
  context.after(() => clock.mock.restore());
  const app = await startTestApp({
    clock: { now: () => new Date(Date.now()) },
    env: { ...env, PARLEY_HOOK_REQUESTS_PER_HOST_PER_MINUTE: "10" },
  });
  const workspace = await makeWorkspace(app.db);
  const receiver = await startHookReceiver();
  const people = [await makeUser(app.db, workspace), await makeUser(app.db, workspace)];
  for (const { token } of people)
    for (let n = 0; n < 3; n++) assert.equal((await create(app, token, `${receiver.url}/${n}`)).status, 200);
  // Six test requests, then six deliveries for each of two recordings.
  const recorders = { recorder_ids: people.map(({ id }) => id) };
  for (let n = 0; n < 2; n++) await makeRecording(app, people[0]?.token ?? "", recorders);
  await until("the limit is reached", async () => receiver.requests.length === 10);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(receiver.requests.length, 10);
  const { rows } = await app.db.pool.query(
    `select count(*)::integer as waiting, max(d.attempts) as attempts, bool_or(h.failing_since is not null) as failing
    from deliveries d join hooks h on h.id = d.hook_id where d.state = 'pending'`,
  );
  assert.deepEqual(rows, [{ waiting: 8, attempts: 0, failing: false }]);
  const refused = await create(app, workspace.member.token, `${receiver.url}/more`);
  assert.equal(refused.status, 429);
  assert.match(
    refused.body.detail,
    /has reached the maximum number of webhook requests per minute; try again in \d+ s/,
  );
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  aheadMs += 60_000;
  app.jobs.wake();
  await until("the rest arrive in the next minute", async () => receiver.requests.length === 18);
});
