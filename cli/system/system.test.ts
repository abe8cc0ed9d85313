import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import type { CommandResult } from "../../test/support/command-process.ts";
import { skipWithoutUser } from "../../test/support/other-user.ts";
import { freePort } from "../../test/support/port.ts";
import { prepareServer, runParley } from "../../test/support/server-process.ts";
import { until } from "../../test/support/until.ts";

const server = await prepareServer();
const database = new pg.Client(server.env.PARLEY_DATABASE_URL);
await database.connect();
after(async () => {
  await database.end();
  await server.dispose();
});
before(() => server.start());
const main = fileURLToPath(new URL("../main.ts", import.meta.url));

/** Runs a command with the server's settings and others. */
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runParley({ env: { ...server.env, ...env } }, ...args);

interface Check {
  readonly check: string;
  readonly state: string;
  readonly explanation: string;
  readonly remedy: string | null;
}

async function doctor(env: Record<string, string> = {}) {
  const { code, stdout } = await run(["doctor", "--json"], env);
  const checks = JSON.parse(stdout) as Check[];
  return { code, checks, find: (name: string) => checks.find(({ check }) => check === name) };
}

/** An address on which nothing listens. */
const nowhere = async () => `127.0.0.1:${await freePort()}`;

test("doctor finds nothing wrong with a running server, and recognizes it on its port", async () => {
  const { code, checks, find } = await doctor();
  assert.deepEqual(
    checks.filter(({ state }) => state === "error"),
    [],
  );
  assert.equal(code, 0);
  for (const name of ["settings", "data folder", "database", "database clock", "file store", "base URL"])
    assert.equal(find(name)?.state, "ok", name);
  assert.match(find("port")?.explanation ?? "", /^Parley is running on port/);
  assert.equal(find("backups")?.state, "warning");
});

test("doctor names a taken port, a folder that can't be written, dead servers and an unknown setting", async () => {
  const other = createServer((_request, response) => response.end("something else"));
  other.listen(0, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const { code, find } = await doctor({
    PARLEY_PORT: String(port),
    // Nobody can create files there.
    PARLEY_DATA_DIR: "/proc",
    PARLEY_SMTP_URL: `smtp://${await nowhere()}`,
    PARLEY_SMTP_FROM: "parley@w.example",
    PARLEY_LLM_URL: `http://${await nowhere()}`,
    PARLEY_DATABASE_URL: `postgres://u:p@${await nowhere()}/parley`,
    PARLEY_MISPELLED: "1",
  });
  other.close();
  assert.equal(code, 1);
  const expected = [
    ["settings", "warning", /PARLEY_MISPELLED is not a setting/, /remove/],
    ["port", "error", /in use by another program/, /PARLEY_PORT/],
    ["data folder", "error", /can't write to \/proc/, /chown/],
    ["database", "error", /ECONNREFUSED/, /PARLEY_DATABASE_URL/],
    ["mail", "error", /can't be reached: .*ECONNREFUSED/, /PARLEY_SMTP_URL/],
    ["language model", "error", /failed \(ECONNREFUSED\)/, /PARLEY_LLM_URL/],
  ] as const;
  for (const [name, state, explanation, remedy] of expected) {
    const found = find(name);
    assert.equal(found?.state, state, name);
    assert.match(found?.explanation ?? "", explanation);
    assert.match(found?.remedy ?? "", remedy);
  }
});

const numbered = { uid: 10_001, gid: 10_001 };

test("doctor works for a user ID without an account, and names the number", {
  skip: skipWithoutUser(numbered),
}, async () => {
  const [folder = "", closed = ""] = ["own", "closed"].map((name) =>
    mkdtempSync(join(tmpdir(), `parley-${name}-`)),
  );
  after(() => {
    for (const path of [folder, closed]) rmSync(path, { recursive: true, force: true });
  });
  chownSync(folder, numbered.uid, numbered.gid);
  const env = { ...process.env, ...server.env, PARLEY_DATA_DIR: folder, PARLEY_WATCH_DIRS: closed };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, "doctor"], {
    ...numbered,
    env,
  }).catch((error: CommandResult) => error);
  assert.match(stdout, /data folder: The user 10001 may write to/, stderr);
  assert.match(stdout, /watched folders: The user 10001 has no permission/, stdout);
  assert.match(stdout, /database: /, stderr);
});

test("doctor lists every invalid setting", async () => {
  const { code, checks } = await doctor({ PARLEY_PORT: "0", PARLEY_ROLE: "boss" });
  assert.equal(code, 1);
  assert.deepEqual(
    checks.map(({ check, state }) => [check, state]),
    [
      ["settings", "error"],
      ["settings", "error"],
    ],
  );
});

test("status shows the running process, and fails once no worker sends heartbeats", async () => {
  const { code, stdout } = await run(["status", "--json", "--test"]);
  const state = JSON.parse(stdout);
  assert.deepEqual([code, state.healthy], [0, true], stdout);
  assert.deepEqual(
    state.processes.map((one: { role: string; responding: boolean }) => [one.role, one.responding]),
    [["all", true]],
  );
  assert.match(state.components[0].explanation, /wrote a transaction/);

  // The server may send a heartbeat between the two.
  const silent = await until(
    "a status without a heartbeat",
    async () => {
      await database.query("update processes set heartbeat_at = now() - interval '5 minutes'");
      const status = await run(["status"]);
      return status.code === 1 && status;
    },
    60_000,
  );
  assert.match(silent.stdout, /^Parley \S+: something is failing$/m);
  assert.match(silent.stdout, /FAILING +worker +No worker is running/);
  assert.match(silent.stdout, /SILENT +all/);
});

test("status reports an unreachable database as JSON, and a missing one in a line, without creating it", async () => {
  const away = await run(["status", "--json"], {
    PARLEY_DATABASE_URL: `postgres://u:p@${await nowhere()}/parley`,
  });
  assert.equal(away.code, 1);
  assert.equal(JSON.parse(away.stdout).components[0].state, "failing");
  const missing = await run(["status"], { PARLEY_DATABASE_URL: "", PARLEY_DATA_DIR: `/tmp/${randomUUID()}` });
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /^parley: there is no database in /);
});

test("status and doctor name the store that has the files, whatever else the settings name", async () => {
  const both = { PARLEY_S3_BUCKET: "unused", PARLEY_S3_ENDPOINT: `http://${await nowhere()}` };
  const check = async (settings: Record<string, string>) => {
    for (const options of [["--json"], ["--json", "--test"]]) {
      const { stdout } = await run(["status", ...options], settings);
      const storage = JSON.parse(stdout).components.find(
        (one: { component: string }) => one.component === "storage",
      );
      assert.deepEqual(
        [storage.state, /the (folder|bucket)/.exec(storage.explanation)?.[1]],
        ["ok", "folder"],
      );
    }
    const { find } = await doctor(settings);
    assert.match(find("file store")?.explanation ?? "", /written, read and deleted in the folder/);
    assert.doesNotMatch(find("file system")?.explanation ?? "", /temporary files only/);
  };
  await check(both);
  // After a migration, the database's record counts.
  await database.query("update installation set store_kind = 'local', store_step = store_step + 1");
  await check({ ...both, PARLEY_STORAGE: "s3" });
});

test("an unfinished migration of files is named as the reason for needing the bucket", async () => {
  await database.query(
    "insert into store_migration (source, target, source_store, target_store) values ('local', 's3', gen_random_uuid(), gen_random_uuid())",
  );
  try {
    const { code, stderr } = await run(["files", "verify"]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^parley: the migration of files from local to s3 is not finished and needs both stores .*--to s3 --remove-source.*, but PARLEY_S3_BUCKET is not set/,
    );
    const { find } = await doctor({});
    assert.match(find("file store local")?.explanation ?? "", /written, read and deleted in the folder/);
    assert.match(find("file store s3")?.explanation ?? "", /migration .* is not finished, but no bucket/);
    assert.equal(find("file store s3")?.remedy, "Set PARLEY_S3_BUCKET.");
  } finally {
    await database.query("delete from store_migration");
  }
});

/** As a job of email that failed; this server sends none. */
async function failedJob(): Promise<string> {
  const key = randomUUID();
  await database.query(
    `insert into jobs (name, data, key, attempts, error, due_at)
     values ('send_mail', '{"encrypted":""}', $1, 3, 'no route to host', now() + interval '1 hour')`,
    [key],
  );
  return `send_mail.${key}`;
}

test("jobs are listed, retried and discarded by id and by kind, and recorded in the audit log", async () => {
  const [first, second] = [await failedJob(), await failedJob()];
  const listed = JSON.parse((await run(["jobs", "list", "--json"])).stdout);
  assert.deepEqual(listed.map((job: { id: string }) => job.id).sort(), [first, second].sort());
  assert.equal(listed[0].error, "no route to host");
  assert.match((await run(["jobs", "list"])).stdout, /send_mail\.\S+ +3 +\S+ +no route to host/);

  assert.deepEqual(await run(["jobs", "retry", first ?? ""]), {
    code: 0,
    stdout: `${first}\n`,
    stderr: "retried 1 of the failed jobs\n",
  });
  const { rows } = await database.query(
    "select due_at <= now() as is_due from jobs where name || '.' || key = $1",
    [first],
  );
  assert.deepEqual(rows, [{ is_due: true }]);
  const discarded = await run(["jobs", "discard", "--kind", "send_mail", "--json"]);
  assert.deepEqual(JSON.parse(discarded.stdout).sort(), [first, second].sort());
  const audit = await database.query(
    "select action, credential, count(*)::integer as n from audit_log where action like 'job%' group by 1, 2 order by 1",
  );
  assert.deepEqual(audit.rows, [
    { action: "job_discarded", credential: "cli", n: 2 },
    { action: "job_retried", credential: "cli", n: 1 },
  ]);
});

test("jobs retry fails for an unknown id and without one, and the operator's workspace can be changed", async () => {
  const unknown = await run(["jobs", "retry", `send_mail.${randomUUID()}`]);
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /^parley: there is no failed job/);
  assert.match(
    (await run(["jobs", "discard"])).stderr,
    /^parley: name jobs to discard, or use --all or --kind$/m,
  );

  const { stdout: id } = await run(["workspace", "create", "--name", "Mine"]);
  assert.equal((await run(["workspace", "operator", id.trim()])).stdout, `${id.trim()}\tMine\n`);
});

test("watched folders and their failed files are listed; files are retried only in folders that are watched", async () => {
  const [folder, removed] = ["/mnt/recordings", "/mnt/removed"];
  await database.query("insert into watched_folders (folder) values ($1), ($2)", [folder, removed]);
  const { rows: workspaces } = await database.query(
    "select operator_workspace_id as id from installation where operator_workspace_id is not null",
  );
  await database.query(
    `insert into watched_files (workspace_id, path_hash, folder, path, mark, state, error)
     select $1, sha256((folder || path)::bytea), folder, path, '', state, 'It is damaged.'
     from (values ($2, 'a.mp4', 'failed'), ($2, 'b.mp4', 'failed'), ($2, 'c.mp4', 'failed'), ($2, 'd.mp4', 'waiting'),
       ($3, 'old.mp4', 'failed')) f (folder, path, state)`,
    [workspaces[0].id, folder, removed],
  );
  const watching = { PARLEY_WATCH_DIRS: folder };
  const listed = JSON.parse((await run(["watched", "list", "--json"], watching)).stdout);
  assert.deepEqual(
    listed.map((one: { folder: string; watched: boolean; waiting: number; failed: number }) => [
      one.folder,
      one.watched,
      one.waiting,
      one.failed,
    ]),
    [
      [folder, true, 1, 3],
      [removed, false, 0, 1],
    ],
  );
  const table = (await run(["watched", "list"], watching)).stdout;
  assert.match(table, /^ +1 +0 +0 +3 +\S+Z +\/mnt\/recordings$/m);
  assert.match(table, /\/mnt\/removed\n +-> no running worker watches it; add it to PARLEY_WATCH_DIRS/);
  const failed: { id: string; folder: string; path: string }[] = JSON.parse(
    (await run(["watched", "list", "--failed", "--json"], watching)).stdout,
  );
  assert.deepEqual(failed.map(({ path }) => path).sort(), ["a.mp4", "b.mp4", "c.mp4", "old.mp4"]);
  assert.match(
    (await run(["watched", "list", "--failed", "--folder", removed], watching)).stdout,
    /^ +\S+ +\S+Z +\/mnt\/removed\/old\.mp4 +It is damaged\.$/m,
  );
  const idOf = (name: string) => failed.find(({ path }) => path === name)?.id ?? "";

  const refused = await run(["watched", "retry", idOf("old.mp4")], watching);
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(
    refused.stderr,
    /^parley: no running worker watches \/mnt\/removed; add it to PARLEY_WATCH_DIRS and restart the workers, or upload its files in the web app$/m,
  );
  assert.equal((await run(["watched", "retry", idOf("a.mp4")])).code, 1, "it is in no settings here");
  assert.match(
    (await run(["watched", "retry", `${randomUUID()}-${"0".repeat(64)}`], watching)).stderr,
    /^parley: there is no failed file/,
  );
  assert.match((await run(["watched", "retry"], watching)).stderr, /name files to retry, or use --all/);

  const one = await run(["watched", "retry", idOf("a.mp4"), "--json"], watching);
  assert.deepEqual([one.code, JSON.parse(one.stdout)], [0, { retried: 1 }]);
  const all = await run(["watched", "retry", "--all"], watching);
  assert.equal(all.code, 1);
  assert.match(all.stderr, /no running worker watches \/mnt\/removed;.*\n2 of the failed files will be/);
  const { rows } = await database.query("select path, state, error from watched_files order by path");
  assert.deepEqual(
    rows.map(({ path, state }) => `${path} ${state}`),
    ["a.mp4 waiting", "b.mp4 waiting", "c.mp4 waiting", "d.mp4 waiting", "old.mp4 failed"],
  );
  const audit = await database.query(
    "select credential, details from audit_log where action = 'watched_files_retried' order by id",
  );
  assert.deepEqual(
    audit.rows,
    [1, 2].map((files) => ({ credential: "cli", details: { folder, files } })),
  );
});

test("a stopped server is no longer listed", async () => {
  assert.equal(await server.stop(), 0);
  const { rows } = await database.query("select * from processes");
  assert.deepEqual(rows, []);
});
