import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { Webhook } from "standardwebhooks";
import { call, olderVersion } from "../support/call.ts";
import { ok, startHookReceiver } from "../support/hook-receiver.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

/** How often the worker is killed under load; set with KILLS. */
const kills = Number(process.env.KILLS ?? 2);

const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" };
const api = await prepareServer({ env: { ...env, PARLEY_ROLE: "api" } });
const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: api });
const receiver = await startHookReceiver();

/** Events before each start of the worker. */
const backlog = 40;

/** The receiver responds to this many more requests and keeps the others waiting. @returns how many wait. */
function respondOnlyTo(count: number): () => number {
  let asked = 0;
  receiver.otherwise((request, response) => {
    asked += 1;
    if (asked <= count) return ok(request, response);
  });
  return () => Math.max(0, asked - count);
}

after(async () => {
  await worker.dispose();
  await api.dispose();
});

test(`the worker is killed ${kills} times under load: every event arrives, and repeats have the same id`, async () => {
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
  const recordings = await until("recordings exist", async () => {
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
        await delay(40);
      }
    }),
  );
  const count = async (query: string, values: unknown[] = []): Promise<number> =>
    Number((await database.query(`select count(*) as n from ${query}`, values)).rows[0].n);
  const pending = () => count("deliveries where state = 'pending'");
  let heldBack = () => 0;
  for (let round = 0; round < kills; round++) {
    const isMidBacklog = round % 2 === 1;
    if (isMidBacklog)
      await until(
        "some of the backlog got a response, and the rest waits",
        async () => heldBack() > 0 && (await pending()) > 0,
      );
    else await delay(100 + ((round * 137) % 900));
    await worker.kill();
    if (isMidBacklog) assert.ok((await pending()) > 0, "no delivery was pending when the worker was killed");
    const { rows: last } = await database.query("select max(id) as id from events");
    await until(
      "enough events happened without a worker",
      async () =>
        (await count(
          "waiting_events w join events e on e.id = w.event_id where e.type = 'recording_updated' and e.id > $1",
          [last[0].id],
        )) >= backlog,
    );
    if (round + 1 < kills) {
      // As if the dead worker's lease had expired, so that every kill hits a delivering worker. The last lease really expires.
      await database.query("update hooks set leased_until = now() where leased_until is not null");
      if (isMidBacklog) receiver.otherwise(ok);
      else heldBack = respondOnlyTo(backlog / 4);
    } else receiver.otherwise(ok);
    await worker.start();
  }
  isLoading = false;
  await load;
  await until(
    "no delivery is pending",
    async () => {
      const { rows } = await database.query(
        `select (select count(*) from events where id in (select event_id from waiting_events) and type like 'recording%')
           + (select count(*) from deliveries where state <> 'delivered') as waiting`,
      );
      return Number(rows[0].waiting) === 0;
    },
    120_000,
  );

  const { rows: expected } = await database.query(
    "select d.message_id as id, d.event_type as type from deliveries d join events e on e.id = d.event_id",
  );
  const { rows: events } = await database.query(
    "select count(*)::int as n from events where type like 'recording%'",
  );
  assert.equal(expected.length, events[0].n, "one delivery per event");
  assert.ok(expected.length >= kills * backlog, `${expected.length} events`);
  const requests = receiver.requests.filter((request) => request.body !== "{}");
  const arrived = new Set(requests.map((request) => request.headers["webhook-id"]));
  assert.deepEqual([...new Set(expected.map((row) => row.id)).symmetricDifference(arrived)], []);
  for (const request of requests) {
    const secret = secrets.get(request.path.slice(1)) ?? "";
    new Webhook(secret).verify(request.body, request.headers as Record<string, string>);
  }
});
