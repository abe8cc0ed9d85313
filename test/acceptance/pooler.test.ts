import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { call, olderVersion } from "../support/call.ts";
import { createTestDatabase } from "../support/database.ts";
import { startHookReceiver } from "../support/hook-receiver.ts";
import { failing } from "../support/library.ts";
import { noPgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

if (noPgBouncer !== false) {
  test("a server behind PgBouncer in transaction mode", { skip: noPgBouncer });
} else {
  const database = await createTestDatabase("template1");
  const direct = new pg.Client(database.url);
  // The role's other sessions stay when the pooler's sessions get their settings.
  await direct.connect();
  // The pooler is used in another time zone first, which it then gives every client that names none.
  await direct.query(`alter database ${database.settings.database} set timezone = 'Asia/Tokyo'`);
  // Fewer sessions than one process has connections.
  const pooledUrl = await startPgBouncer(database, 4);
  const env = {
    PARLEY_DATABASE_DIRECT_URL: database.url,
    PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8",
    PARLEY_SWEEP_INTERVAL: "500ms",
  };
  const api = await prepareServer({ databaseUrl: pooledUrl, env: { ...env, PARLEY_ROLE: "api" } });
  const worker = await prepareServer({ shared: api, env: { ...env, PARLEY_ROLE: "worker" } });
  after(async () => {
    await worker.dispose();
    await api.dispose();
    await direct.end();
    await database.drop();
  });
  await api.start();
  await worker.start();
  const token = await parley(api, "token", "create", "--email", "admin@parley.local");

  const create = async (body: object) => {
    const answer = await call(api, "POST", "/uploads/create", body, { token });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const untilRecorded = (id: string): Promise<string> =>
    until(`upload ${id} is a recording`, async () => {
      const { body } = await call(api, "POST", `/uploads/${id}`, {}, { token });
      assert.notEqual(body.status, "failure", body.failure?.reason);
      return body.recording_id ?? undefined;
    });
  const transcript = {
    media_type: "transcript",
    attributes: {
      transcript: {
        language: "en",
        segments: [{ speaker_key: "a", start: 0, end: 900, text: "The harbour is calm." }],
      },
    },
  };

  test("uploads become recordings, are found, and their events arrive, with four sessions for two processes", async () => {
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
    const uploads = await Promise.all(Array.from({ length: 20 }, () => create(transcript)));
    const audio = await create({ media_type: "audio" });
    const { url, headers } = audio.media.upload;
    const file = readFileSync(new URL("../fixtures/media/good-cbr.mp3", import.meta.url));
    const sent = await fetch(url.replace("localhost", "127.0.0.1"), { method: "PUT", body: file, headers });
    assert.equal(sent.status, 200);
    const recordings = await Promise.all([...uploads, audio].map(({ id }) => untilRecorded(id)));
    assert.equal(new Set(recordings).size, 21);
    const requests = await receiver.waitFor(21);
    const announced = new Set(requests.map(({ body }) => JSON.parse(body).data.id));
    assert.deepEqual([...announced].sort(), [...recordings].sort());
    const found = await until("a word of the transcript is found", async () => {
      const { body } = await call(api, "GET", "/_/api/v1/search?q=harbour", undefined, { token });
      return body.results?.length > 0 ? body.results : undefined;
    });
    assert.ok(found.length > 0);
  });

  test("a worker sleeps without work and wakes as soon as another process adds some", async () => {
    const isAsleep = async () => {
      const { rows } = await direct.query(
        `select 1 from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
           and classid::bigint << 32 | objid::bigint = 7271539026
           and database = (select oid from pg_database where datname = current_database())`,
      );
      return rows.length > 0;
    };
    await until("the worker sleeps", isAsleep, 30_000);
    const startedAt = performance.now();
    const { id } = await create(transcript);
    await untilRecorded(id);
    // It would check without a notification after 5 s.
    assert.ok(performance.now() - startedAt < 4000, "the worker was not woken");
  });

  test("a pooler that was used before in another time zone is prepared without a line in the log", () => {
    assert.doesNotMatch(api.output().stderr, /connection broke|lack the settings/);
  });

  test("backups, their lock and the check for running servers work past the pooler", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-pooled-backup-"));
    after(() => rmSync(folder, { recursive: true, force: true }));
    await parley(api, "backup", folder, "--json");
    const refused = await failing(api, "restore", folder, "--replace", "--yes");
    assert.match(refused, /a server is using the configured database/);
  });

  test("a direct URL of another database is refused", async () => {
    const another = await createTestDatabase();
    after(() => another.drop());
    const env = { ...api.env, PARLEY_DATABASE_DIRECT_URL: another.url };
    const refused = await failing({ env }, "status");
    assert.match(refused, /PARLEY_DATABASE_URL and PARLEY_DATABASE_DIRECT_URL lead to different databases/);
  });

  test("without PARLEY_DATABASE_DIRECT_URL the server refuses to start and names the setting", async () => {
    const refused = await promisify(execFile)(process.execPath, [main, "serve"], {
      env: { ...process.env, ...api.env, PARLEY_DATABASE_DIRECT_URL: "", PARLEY_ROLE: "worker" },
    }).then(
      () => assert.fail("started"),
      (error: { stderr: string }) => error.stderr,
    );
    assert.match(refused, /PARLEY_DATABASE_DIRECT_URL/);
  });
}
