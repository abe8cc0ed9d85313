import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, call, olderVersion } from "../support/app.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { startReplicatedDatabase } from "../support/replicated-database.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { startTcpForwarder } from "../support/tcp-forwarder.ts";
import { until } from "../support/until.ts";

// A commit is acknowledged when the standby has it.
const { primary, standby } = await startReplicatedDatabase({
  synchronous_standby_names: "standby",
  synchronous_commit: "on",
});
const forwarder = await startTcpForwarder(primary.port);
const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8", PARLEY_OPEN_UPLOADS_PER_USER: "0" };
const api = await prepareServer({
  databaseUrl: `postgres://parley@127.0.0.1:${forwarder.port}/parley`,
  env: { ...env, PARLEY_ROLE: "api" },
});
const worker = await prepareServer({ shared: api, env: { ...env, PARLEY_ROLE: "worker" } });
after(async () => {
  await worker.dispose();
  await api.dispose();
});

const transcript = {
  media_type: "transcript",
  attributes: {
    transcript: {
      language: "en",
      segments: [{ speaker_key: "a", start: 0, end: 900, text: "Still here." }],
    },
  },
};

test("the primary crashes under load: after the replica's promotion nothing acknowledged is missing, and work continues", async () => {
  await api.start();
  await worker.start();
  const token = await parley(api, "token", "create", "--email", "admin@parley.local");
  const receiver = await startHookReceiver();
  const hook = await call(
    api,
    "POST",
    "/hooks/create",
    { hook_url: receiver.url, hook_type: "recording_added" },
    { token, version: olderVersion },
  );
  assert.equal(hook.status, 200, hook.text);
  receiver.requests.length = 0;

  const acknowledged: string[] = [];
  const responses: Answer[] = [];
  let isLoading = true;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (isLoading) {
        const answer = await call(api, "POST", "/uploads/create", transcript, { token });
        responses.push(answer);
        if (answer.status === 200) acknowledged.push(answer.body.id);
        await delay(20);
      }
    }),
  );
  const untilAcknowledged = (more: number): Promise<true> => {
    const wanted = acknowledged.length + more;
    return until("uploads are accepted", () => acknowledged.length >= wanted || undefined).then(() => true);
  };
  await untilAcknowledged(20);
  await primary.crash();
  // Before its promotion the replica accepts connections, but no changes.
  forwarder.moveTo(standby.port);
  const refusedBefore = responses.length;
  await until("requests are refused", () => responses.length >= refusedBefore + 8);
  assert.ok(
    responses.slice(refusedBefore + 4).every(({ status }) => status === 503),
    "a request succeeded on a standby",
  );
  assert.equal((await fetch(`${api.url}/readyz`)).status, 503);
  await standby.query("select pg_promote()");
  await untilAcknowledged(20);
  isLoading = false;
  await load;

  for (const { status, text, headers } of responses) {
    assert.ok(status === 200 || status === 503, text);
    if (status === 503) assert.ok(Number(headers.get("retry-after")) > 0);
  }
  const recordings = new Set<string>();
  await until("every acknowledged upload is a recording", async () => {
    for (const id of acknowledged.slice(recordings.size)) {
      const { body } = await call(api, "POST", `/uploads/${id}`, {}, { token });
      if (body.status !== "success") return false;
      recordings.add(body.recording_id);
    }
    return true;
  });
  await until("every recording is announced", () => {
    const announced = new Set(receiver.requests.map(({ body }) => JSON.parse(body).data.id));
    return [...recordings].every((id) => announced.has(id));
  });
  assert.ok(api.isRunning && worker.isRunning);
});
