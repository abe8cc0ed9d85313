import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { call } from "../support/call.ts";
import { makeNextVersion } from "../support/next-version.ts";
import { startDocumentedNginx } from "../support/nginx.ts";
import { freePort } from "../support/port.ts";
import { skipWithout } from "../support/programs.ts";
import { parley, prepareServer, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const nginxPort = await freePort();
const url = `http://127.0.0.1:${nginxPort}`;
const env = {
  PARLEY_BASE_URL: url,
  PARLEY_TRUSTED_PROXIES: "127.0.0.1",
  PARLEY_DRAIN: "500ms",
  PARLEY_BACKUP_BEFORE_UPGRADE: "true",
};
const one = await prepareServer({ env });
const two = await prepareServer({ env, shared: one });
const next = makeNextVersion("99.0.0", {
  "0990_next": "create table next_feature (id integer); alter table recordings add column next_note text",
  "0991_more": "select 1/0",
  "0992_finish": "-- finish: needs 99.0.0\ndrop table next_feature",
});

/** A process of the next version in place of one of this version. */
function successorOf(server: ServerProcess, role = "api"): Promise<ServerProcess> {
  const { PARLEY_PORT = "" } = server.env;
  return prepareServer({ shared: one, program: next, env: { ...env, PARLEY_PORT, PARLEY_ROLE: role } });
}
const nextOne = await successorOf(one);
const nextTwo = await successorOf(two);
const nextWorker = await successorOf(one, "worker");
const database = new pg.Client(one.env.PARLEY_DATABASE_URL);
await database.connect();
after(async () => {
  await database.end();
  for (const server of [nextOne, nextTwo, nextWorker, two, one]) await server.dispose();
});

const names = async (): Promise<unknown[]> =>
  (await database.query("select name from schema_migrations where number > 900 order by number")).rows;

const transcript = {
  language: "en",
  segments: [{ speaker_key: "s1", start: 0, end: 4000, text: "Good morning." }],
};

/** What clients do meanwhile, and what failed. */
interface Load {
  readonly failures: string[];
  /** Successful requests. */
  served(): number;
  /** Titles of the acknowledged uploads. */
  readonly uploads: string[];
  stop(): Promise<void>;
}

/** Reads, writes and uploads through the proxy. */
function startLoad(token: string, recordingId: string): Load {
  const failures: string[] = [];
  const uploads: string[] = [];
  const stopping = new AbortController();
  let served = 0;

  async function expect200(what: string, sent: Promise<{ status: number; text: string }>): Promise<boolean> {
    const { status, text } = await sent.catch((error: Error) => ({ status: 0, text: String(error.cause) }));
    if (status === 200) served += 1;
    else failures.push(`${what}: ${status} ${text.slice(0, 300)}`);
    return status === 200;
  }
  const post = (path: string, body: object) => call({ url }, "POST", path, body, { token });
  const steps: (() => Promise<unknown>)[] = [
    () => expect200("read", post("/recordings", { include: { participants: true } })),
    () =>
      expect200(
        "write",
        call({ url }, "PATCH", `/recordings/${recordingId}`, { title: `Title ${served}` }, { token }),
      ),
    async () => {
      const title = `Upload ${uploads.length}`;
      const body = { media_type: "transcript", attributes: { title, transcript } };
      if (await expect200("upload of a transcript", post("/uploads/create", body))) uploads.push(title);
    },
    async () => {
      const created = await post("/uploads/create", { media_type: "audio", auto_promote: false });
      await expect200("upload of a file", putSlowly(created.body.media.upload));
      // Each one is examined by a process of its own.
      await sleep(900);
    },
  ];
  const clients = steps.map(async (step) => {
    while (!stopping.signal.aborted) {
      await step().catch((error: Error) => failures.push(String(error)));
      await sleep(300);
    }
  });
  return {
    failures,
    uploads,
    served: () => served,
    async stop() {
      stopping.abort();
      await Promise.all(clients);
    },
  };
}

/** Sends a file that is no audio in pieces for half a second, so that servers stop meanwhile. */
function putSlowly(target: {
  url: string;
  headers: Record<string, string>;
}): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const piece = Buffer.alloc(100_000, "x");
    const sent = request(
      target.url,
      { method: "PUT", headers: { ...target.headers, "content-length": 5 * piece.length } },
      async (response) => {
        const text = (await response.toArray()).join("");
        resolve({ status: response.statusCode ?? 0, text });
      },
    );
    sent.once("error", reject);
    void (async () => {
      for (let index = 0; index < 5; index += 1) {
        sent.write(piece);
        await sleep(100);
      }
      sent.end();
    })();
  });
}

/** Of the admin, created by the first test. */
let token = "";

test("an upgrade replaces two API processes behind nginx one after another without a failed request", {
  skip: skipWithout("nginx"),
}, async (context) => {
  await one.start();
  await two.start();
  await startDocumentedNginx(nginxPort, [one.env.PARLEY_PORT ?? "", two.env.PARLEY_PORT ?? ""]);
  token = await parley(one, "token", "create", "--email", "admin@parley.local");
  const body = { media_type: "transcript", attributes: { title: "First", transcript } };
  const { id } = (await call({ url }, "POST", "/uploads/create", body, { token })).body;
  const recordingId = await until("the first recording exists", async () => {
    const upload = await call({ url }, "POST", `/uploads/${id}`, {}, { token });
    return upload.body.recording_id ?? undefined;
  });
  const load = startLoad(token, recordingId);
  context.after(() => load.stop());

  // The second of its migrations fails: nothing has changed, and the processes of this version continue.
  await assert.rejects(
    parley(nextOne, "migrate"),
    /migration 0991_more failed: division by zero\. .* as it was before/,
  );
  assert.deepEqual(await names(), []);
  writeFileSync(
    join(next, "migrations", "0991_more.sql"),
    "create index next_note on recordings (next_note)",
  );

  assert.equal(await one.stop(), 0);
  await nextOne.start();
  assert.deepEqual(await names(), [{ name: "0990_next" }, { name: "0991_more" }]);
  const before = load.served();
  await until("both versions serve requests", () => load.served() > before + 20);
  assert.equal(await two.stop(), 0);
  await nextTwo.start();
  const [servedByOld, after] = [two.output().stderr.length, load.served()];
  await until("the next version serves requests alone", () => load.served() > after + 20);
  await load.stop();
  assert.deepEqual(load.failures, []);
  assert.equal(two.output().stderr.length, servedByOld);

  // No process is a worker any more: the uploads wait for one.
  const { rows } = await database.query("select title from uploads where title like 'Upload %'");
  assert.deepEqual(rows.map(({ title }) => title).sort(), load.uploads.toSorted());
});

test("the previous version runs on the migrated database until migrate --finish, then stops serving and working", {
  skip: skipWithout("nginx"),
}, async () => {
  assert.equal(await nextTwo.stop(), 0);
  await two.start();
  assert.match(two.output().stderr, /migrated by a newer version, which allows this one/);
  const { rows: before } = await database.query("select oldest_version from installation");
  const list = (server: ServerProcess) => call(server, "POST", "/recordings", {}, { token });
  assert.equal((await list(two)).status, 200);

  await assert.rejects(
    parley(nextOne, "migrate", "--finish"),
    /processes of versions older than 99\.0\.0 still run: all \d.* Nothing was changed/,
  );
  assert.equal((await list(two)).status, 200);
  // A process whose heartbeats don't arrive is not known.
  await database.query("create rule no_heartbeats as on insert to processes do instead nothing");
  await database.query("delete from processes where role = 'all'");
  await parley(nextOne, "migrate", "--finish");
  assert.equal((await names()).length, 3);
  const refused = await list(two);
  assert.equal(refused.status, 503);
  assert.match(refused.body.detail, /runs Parley \d.*, and its database needs 99\.0\.0 or newer/);
  const ready = await fetch(`${two.url}/readyz`);
  assert.deepEqual(
    [ready.status, await ready.json()],
    [503, { status: "too old", needed_version: "99.0.0" }],
  );
  assert.equal((await fetch(`${two.url}/healthz`)).status, 200);

  const body = { media_type: "transcript", attributes: { title: "Last", transcript } };
  const { id } = (await call(nextOne, "POST", "/uploads/create", body, { token })).body;
  const read = async () => (await call(nextOne, "POST", `/uploads/${id}`, {}, { token })).body;
  // A worker takes a job within half a second.
  await sleep(1500);
  assert.equal((await read()).recording_id, null);
  assert.equal(await two.stop(), 0);
  await assert.rejects(two.start(), /needs Parley 99\.0\.0 or newer, and this is \d/);
  await nextWorker.start();
  await until(
    "a worker of the next version finishes the job",
    async () => (await read()).recording_id !== null,
  );

  // The copy from before the finishing migration lists the migrations of that time.
  assert.equal(await nextWorker.stop(), 0);
  assert.equal(await nextOne.stop(), 0);
  await parley(nextOne, "upgrade", "rollback", "--yes");
  assert.deepEqual(await names(), [{ name: "0990_next" }, { name: "0991_more" }]);
  const { rows } = await database.query("select oldest_version from installation");
  assert.deepEqual(rows, before);
});
