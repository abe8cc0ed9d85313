import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { call } from "../support/call.ts";
import { createTestDatabase } from "../support/database.ts";
import { createLibrary, failing, segments } from "../support/library.ts";
import { killAtLine, parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const database = await createTestDatabase("template1");
const embedded = await prepareServer({ databaseUrl: "" });
after(() => embedded.dispose());
const own = await prepareServer({ databaseUrl: database.url, shared: embedded });
after(async () => {
  await own.dispose();
  await database.drop();
});
await embedded.start();
const library = await createLibrary(embedded);
const { token } = library;
await library.uploadMedia();

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(database.url);
  await client.connect();
  return client
    .query(text)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

/** Creates transcripts until it is stopped. @returns the titles that were acknowledged, and how many were refused. */
function writeThroughout(server: { readonly url: string }) {
  const acknowledged: string[] = [];
  let [refused, isWriting] = [0, true];
  const writing = (async () => {
    for (let index = 0; isWriting; index++) {
      const title = `${server.url} ${index}`;
      const body = {
        media_type: "transcript",
        attributes: { title, transcript: { language: "en", segments: segments.slice(0, 5) } },
      };
      const {
        status,
        headers,
        body: problem,
      } = await call(server, "POST", "/uploads/create", body, { token });
      if (status === 200) acknowledged.push(title);
      else {
        assert.equal(status, 503, JSON.stringify(problem));
        assert.ok(Number(headers.get("retry-after")) > 0);
        refused += 1;
      }
      await delay(300);
    }
  })();
  return {
    acknowledged,
    async untilAccepted() {
      const before = acknowledged.length;
      await until("requests are accepted again", () => acknowledged.length > before + 1 || undefined);
    },
    async stop() {
      isWriting = false;
      await writing;
      return { acknowledged, refused };
    },
  };
}

/** Everything that readers see, once all acknowledged uploads are recordings. */
async function readAll(server: typeof own, acknowledged: readonly string[]) {
  await until("all acknowledged uploads are recordings", async () => {
    const titles = new Set(await library.titles(server));
    return acknowledged.every((title) => titles.has(title));
  });
  return library.readAll(server);
}

test("embedded to PostgreSQL under load, killed in each phase: the source stays in use, then only the target", async () => {
  const load = writeThroughout(embedded);
  await load.untilAccepted();
  const before = await library.readAll();
  const move = ["database", "move", database.url, "--json"];
  for (const phase of ["pausing", "database", "verifying"]) {
    assert.ok(await killAtLine(embedded, move, (line) => line.includes(`"phase":"${phase}"`)), phase);
    await load.untilAccepted();
  }
  // Background work continues as well.
  await readAll(embedded, load.acknowledged.slice(-1));
  // Depending on the moment, the source is still in use, or both databases refuse to be used.
  await killAtLine(embedded, move, (line) => line.includes('"phase":"switching"'));
  await parley(embedded, ...move);
  const { acknowledged, refused } = await load.stop();
  assert.ok(refused > 0);

  assert.match(
    (await call(embedded, "POST", "/recordings", {}, { token })).body.detail,
    /the database was moved; the operator has to restart/,
  );
  const refusal =
    /this database was moved to postgres:\/\/[^:]+@\/test_\w+\?host=\S+ at .*Set PARLEY_DATABASE_URL.* PARLEY_DATABASE_DIRECT_URL and PARLEY_DATABASE_REPLICA_URL/;
  assert.match(await failing(embedded, "audit", "verify"), refusal);
  assert.equal(await embedded.stop(), 0);
  await assert.rejects(embedded.start(), refusal);

  await query("update installation set arriving_since = now()");
  await assert.rejects(own.start(), /the move to this database is not complete/);
  assert.match(await failing(own, "database", "move", "embedded"), /target of a move that is not complete/);
  await parley(embedded, ...move);
  await own.start();
  const now = await readAll(own, acknowledged);
  for (const [name, content] of before) assert.equal(now.get(name), content, name);
  await parley(own, "audit", "verify");
  await parley(own, "files", "verify");
});

test("PostgreSQL to embedded under load: the former copy is replaced, and everything acknowledged is there", async () => {
  const load = writeThroughout(own);
  await load.untilAccepted();
  const before = await library.readAll(own);
  const lines = await parley(own, "database", "move", "embedded", "--json");
  const { paused_seconds } = JSON.parse(lines.split("\n").at(-1) ?? "");
  assert.ok(paused_seconds > 0 && paused_seconds < 60, lines);
  const { acknowledged, refused } = await load.stop();
  assert.ok(refused > 0);
  await assert.rejects(query("update users set name = 'Lost'"), /this database was moved/);
  assert.equal(await own.stop(), 0);
  await embedded.start();
  const now = await readAll(embedded, acknowledged);
  for (const [name, content] of before) assert.equal(now.get(name), content, name);
  await library.upload("After");
  await readAll(embedded, ["After"]);
  // A move back that is interrupted leaves the retired copy closed.
  const back = ["database", "move", database.url, "--json"];
  assert.ok(await killAtLine(embedded, back, (line) => line.includes('"phase":"database"')));
  await assert.rejects(query("update users set name = 'Lost'"), /this database was moved/);
  await parley(embedded, "audit", "verify");
});

test("a target with another installation is refused, and nothing pauses", async () => {
  const other = await createTestDatabase();
  after(() => other.drop());
  const logged = embedded.output().stderr.length;
  assert.match(await failing(embedded, "database", "move", other.url), /already has an installation/);
  assert.match(
    await failing(embedded, "database", "move", "postgres://a:secret@127.0.0.1:1/none"),
    /^parley: postgres:\/\/a@127\.0\.0\.1:1\/none can't be reached: \S/,
  );
  assert.equal((await call(embedded, "POST", "/recordings", {}, { token })).status, 200);
  assert.doesNotMatch(embedded.output().stderr.slice(logged), /is being moved/);
});
