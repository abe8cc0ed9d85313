import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Webhook } from "standardwebhooks";
import { call, olderVersion } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

/** How often the process that delivers is killed under load; KILLS asks for more. */
const kills = Number(process.env.KILLS ?? 8);

const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" };
const api = await prepareServer({ env: { ...env, PARLEY_ROLE: "api" } });
const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: api });
const receiver = await startHookReceiver();
after(async () => {
  await worker.dispose();
  await api.dispose();
});

test(`hooks: the worker killed ${kills} times under load, every event arrives, and again only with the same id`, async () => {
  await api.start();
  const workspace = await parley(api, "workspace", "create", "--name", "Killed");
  await parley(
    api,
    "user",
    "create",
    "--email",
    "k@killed.example",
    "--name",
    "K",
    "--role",
    "admin",
    "--workspace",
    workspace,
  );
  const token = await parley(api, "token", "create", "--email", "k@killed.example", "--workspace");
  const secrets = new Map<string, string>();
  for (const hook_type of ["recording_updated", "recording_added"]) {
    const { status, body } = await call(
      api,
      "POST",
      "/hooks/create",
      { hook_url: `${receiver.url}/${hook_type}`, hook_type, include: { participants: true } },
      { token, version: olderVersion },
    );
    assert.equal(status, 200);
    secrets.set(hook_type, body.secret);
  }
  const database = new pg.Client(api.env.PARLEY_DATABASE_URL);
  await database.connect();
  after(() => database.end());
  await worker.start();
  const user = (await call(api, "POST", "/users", {}, { token })).body.users[0].id;
  const attributes = {
    recorder_ids: [user],
    transcript: { language: "en", segments: [{ speaker_key: "a", start: 0, end: 900, text: "Hello." }] },
  };
  for (let index = 0; index < 5; index++)
    await call(api, "POST", "/uploads/create", { media_type: "transcript", attributes }, { token });
  const recordings = await until("there are recordings", async () => {
    const found = (await call(api, "POST", "/recordings", {}, { token })).body.recordings;
    return found.length === 5 ? found : undefined;
  });

  let isLoading = true;
  let changes = 0;
  const load = Promise.all(
    recordings.map(async (recording: { id: string }) => {
      while (isLoading) {
        changes += 1;
        await call(api, "PATCH", `/recordings/${recording.id}`, { title: `Title ${changes}` }, { token });
        await delay(5);
      }
    }),
  );
  for (let round = 0; round < kills; round++) {
    await delay(100 + ((round * 137) % 900));
    await worker.kill();
    await worker.start();
  }
  isLoading = false;
  await load;
  await until(
    "nothing waits any more",
    async () => {
      const { rows } = await database.query(
        `select (select count(*) from events where id in (select event_id from waiting_events) and type like 'recording%')
           + (select count(*) from delivery_log where state <> 'delivered') as waiting`,
      );
      return Number(rows[0].waiting) === 0;
    },
    60_000,
  );

  const { rows: batches } = await database.query(
    "select n_tup_ins::int as n from pg_stat_user_tables where relname = 'delivery_batches'",
  );
  assert.ok(batches[0].n > 0, "some of them waited in batches when the worker was killed");
  const { rows: expected } = await database.query(
    `select d.message_id as id, d.event_type as type from deliveries d join events e on e.id = d.event_id`,
  );
  const { rows: events } = await database.query(
    "select count(*)::int as n from events where type like 'recording%'",
  );
  assert.equal(expected.length, events[0].n, "one delivery for each event");
  assert.ok(expected.length > kills * 10, `${expected.length} events`);
  const requests = receiver.requests.filter((request) => request.body !== "{}");
  const arrived = new Set(requests.map((request) => request.headers["webhook-id"]));
  assert.deepEqual([...new Set(expected.map((row) => row.id)).symmetricDifference(arrived)], []);
  for (const request of requests) {
    const secret = secrets.get(request.path.slice(1)) ?? "";
    new Webhook(secret).verify(request.body, request.headers as Record<string, string>);
  }
});
