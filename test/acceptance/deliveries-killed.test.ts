import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { call } from "../support/call.ts";
import { ok, startHookReceiver } from "../support/hook-receiver.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

/** How often the worker is killed; set with KILLS. */
const kills = Number(process.env.KILLS ?? 2);

const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" };
const api = await prepareServer({ env: { ...env, PARLEY_ROLE: "api" } });
const worker = await prepareServer({ env: { ...env, PARLEY_ROLE: "worker" }, shared: api });
const receiver = await startHookReceiver();
after(async () => {
  await worker.dispose();
  await api.dispose();
});

test(`the worker is killed ${kills} times: no chat message comes twice, none is lost unreported, every file is written`, async () => {
  await api.start();
  const workspace = await parley(api, "workspace", "create", "--name", "Killed");
  const account = ["--email", "k@killed.example", "--name", "K", "--role", "admin", "--workspace", workspace];
  await parley(api, "user", "create", ...account);
  const token = await parley(api, "token", "create", "--email", "k@killed.example", "--workspace");
  const manage = (method: string, path: string, body?: object) =>
    call(api, method, `/_/api/v1${path}`, body, { token, version: null });
  const chat = await manage("POST", "/deliveries", { kind: "slack", url: `${receiver.url}/chat` });
  assert.equal(chat.status, 200, chat.text);
  assert.equal((await manage("POST", "/deliveries", { kind: "markdown" })).status, 200);
  const database = new pg.Client(api.env.PARLEY_DATABASE_URL);
  await database.connect();
  after(() => database.end());
  const user = (await call(api, "POST", "/users", {}, { token })).body.users[0].id;
  // A kill also comes between a request and its response.
  receiver.otherwise(async (request, response) => {
    await delay(Math.random() * 60);
    await ok(request, response);
  });
  await worker.start();
  for (let round = 0; round < kills; round += 1) {
    const before = receiver.requests.length;
    for (let index = 0; index < 2; index += 1)
      assert.equal(
        (
          await call(
            api,
            "POST",
            "/uploads/create",
            {
              media_type: "transcript",
              attributes: {
                title: `Meeting ${round} ${index}`,
                recorder_ids: [user],
                transcript: {
                  language: "en",
                  segments: [{ speaker_key: "a", start: 0, end: 900, text: "Hello." }],
                },
              },
            },
            { token },
          )
        ).status,
        200,
      );
    // In every other round, right after the first request has arrived.
    if (round % 2 === 0) await until("a request has arrived", () => receiver.requests.length > before);
    else await delay((round * 137) % 900);
    await worker.kill();
    // As if the dead worker's lease had expired.
    await database.query("update hooks set leased_until = now() where leased_until is not null");
    await worker.start();
  }
  const count = kills * 2;
  const ended = await until(
    "every recording was handled",
    async () => {
      const { rows } = await database.query(
        `select d.recording_id, t.kind, d.state, coalesce(d.first_error, '') as error, d.first_response as response
         from deliveries d join destinations t on t.hook_id = d.hook_id`,
      );
      const done = rows.filter(({ state }) => state !== "pending");
      const sent = done.filter(({ kind }) => kind === "slack");
      const files = done.filter(({ kind }) => kind === "markdown");
      const { rows: waiting } = await database.query("select 1 from waiting_events");
      return sent.length === count &&
        files.length >= count &&
        waiting.length === 0 &&
        done.length === rows.length
        ? done
        : undefined;
    },
    120_000,
  );
  for (const { recording_id, kind, state, error, response } of ended) {
    if (kind === "markdown") {
      assert.equal(state, "delivered");
      assert.ok(existsSync(join(api.env.PARLEY_DATA_DIR ?? "", "objects", response)), response);
      continue;
    }
    const messages = receiver.requests.filter(({ body }) => body.includes(recording_id)).length;
    if (state === "delivered") assert.equal(messages, 1);
    else {
      assert.ok(messages <= 1, `${messages} messages`);
      assert.match(error, /may or may not have arrived/);
    }
  }
});
