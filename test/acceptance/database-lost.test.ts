import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { call } from "../support/call.ts";
import { isFullRun } from "../support/full.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const server = await prepareServer();
after(() => server.dispose());

test("the server survives repeatedly cut database connections and keeps every acknowledged upload", async (t) => {
  await server.start();
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  const knife = new pg.Client({ connectionString: server.env.PARLEY_DATABASE_URL });
  await knife.connect();
  // A connection left open would keep this process running indefinitely.
  t.after(() => knife.end());
  const segments = Array.from({ length: 100 }, (_, index) => ({
    speaker_key: "a",
    start: index,
    end: index + 1,
    text: "Cut me off.",
  }));
  const body = { media_type: "transcript", attributes: { transcript: { language: "en", segments } } };
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  const [rounds, each] = isFullRun ? [15, 16] : [8, 8];
  for (let round = 0; round < rounds; round++) {
    const uploads = Array.from({ length: each }, async () => {
      const answer = await call(server, "POST", "/uploads/create", body, { token });
      statuses.add(answer.status);
      if (answer.status === 200) acknowledged.push(answer.body.id);
    });
    // From the first statements of the uploads to their last ones.
    await knife.query("select pg_sleep($1)", [(round * 0.015) / rounds]);
    // Not autovacuum's, which only some roles may end.
    await knife.query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`);
    await Promise.all(uploads);
    assert.ok(server.isRunning, server.output().stderr.slice(-1500));
  }
  for (const status of statuses) assert.ok([200, 503].includes(status), `status ${status}`);
  assert.ok(acknowledged.length > 0);
  await until(
    "every acknowledged upload is a recording",
    async () => {
      for (const id of acknowledged) {
        const upload = await call(server, "POST", `/uploads/${id}`, {}, { token });
        if (upload.body.status !== "success") return false;
      }
      return true;
    },
    60_000,
  );
  assert.equal(await server.stop(), 0);
});
