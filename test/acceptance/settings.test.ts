import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { call } from "../support/call.ts";
import type { CommandResult } from "../support/command-process.ts";
import { startReplicatedDatabase } from "../support/replicated-database.ts";
import { parley, prepareServer, runParley, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-settings-"));
const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const file = join(folder, "settings.json");
const { primary } = await startReplicatedDatabase();
const api = await prepareServer({ databaseUrl: primary.url, env: { PARLEY_ROLE: "api" } });
const other = await prepareServer({ shared: api, env: { PARLEY_ROLE: "api" } });
const worker = await prepareServer({ shared: api, env: { PARLEY_ROLE: "worker" } });
after(async () => {
  for (const server of [worker, other, api]) await server.dispose();
  rmSync(folder, { recursive: true });
});
await api.start();
const workspace = await parley(api, "workspace", "create", "--name", "Operator");
await parley(
  api,
  "user",
  "create",
  "--email",
  "a@w.example",
  "--name",
  "A",
  "--role",
  "admin",
  "--workspace",
  workspace,
);
await parley(api, "workspace", "operator", workspace);
const token = await parley(api, "token", "create", "--email", "a@w.example");
await other.start();
await worker.start();

interface Shown {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
  readonly is_set: boolean;
}

async function read(server: ServerProcess, name: string): Promise<Shown | undefined> {
  const { body } = await call(server, "GET", "/_/api/v1/system/settings", undefined, {
    version: null,
    token,
  });
  return body.settings.find((one: Shown) => one.name === name);
}

/** Two seconds, and one more on a machine that runs other tests as well. */
const inForceMs = 3000;

/** Whether a process serves requests to a host: it refuses hosts that are not trusted. */
function trusts(server: ServerProcess, host: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  get(`${server.url}/sign-in`, { headers: { host } }, (response) => {
    response.resume();
    resolve(response.statusCode !== 421);
  }).on("error", reject);
  return promise;
}

const change = (settings: object) =>
  call(api, "PATCH", "/_/api/v1/system/settings", { settings }, { version: null, token });

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  runParley({ env: { ...api.env, ...env } }, "settings", ...args);

/** Runs a command with a text on its standard input. */
async function runWith(input: string, ...args: string[]) {
  const running = promisify(execFile)(process.execPath, [main, "settings", ...args], {
    env: { ...process.env, ...api.env },
  });
  running.child.stdin?.end(input);
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: CommandResult) => error,
  );
}

test("a change on one process is in force on all within two seconds, also after connections broke and after PostgreSQL was stopped and started", async () => {
  const follows = () =>
    worker.output().stderr.split('"names":["PARLEY_TRUSTED_HOSTS"],"msg":"following the settings').length - 1;
  const isInForce = async (host: string, servers: readonly ServerProcess[], changes: number) => {
    for (const server of servers) await until(server.url, () => trusts(server, host), inForceMs);
    await until("the worker", () => follows() >= changes, inForceMs);
  };
  assert.equal(await trusts(other, "one.example"), false);
  assert.equal((await change({ PARLEY_TRUSTED_HOSTS: "one.example" })).status, 200);
  await isInForce("one.example", [other], 1);

  /** Writes without the notification that a change by the app sends: processes see it when they connect again. */
  const write = async (host: string): Promise<void> => {
    await primary.query(
      `update settings set value = '${host}' where name = 'PARLEY_TRUSTED_HOSTS'`,
      "parley",
    );
    assert.equal(await trusts(api, host), false);
  };
  await write("two.example");
  await primary.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'parley' and pid <> pg_backend_pid()",
  );
  await isInForce("two.example", [api, other], 2);

  await write("three.example");
  await primary.stop();
  await primary.start();
  await isInForce("three.example", [api, other], 3);
});

test("parley settings: set, get, unset, test, export and import; a secret comes from standard input", async () => {
  const seen = await run(["set", "PARLEY_LLM_API_KEY", "sk-in-the-list"]);
  assert.match(seen.stderr, /this secret was in the list of processes/);
  assert.ok(!seen.stderr.includes("sk-in-the-list"));
  const set = await runWith("sk-from-stdin\n", "set", "PARLEY_LLM_API_KEY", "--json");
  assert.equal(set.code, 0, set.stderr);
  assert.ok(!`${set.stdout}${set.stderr}`.includes("sk-from-stdin"));
  assert.doesNotMatch(set.stderr, /list of processes/);
  assert.deepEqual(
    [(await read(other, "PARLEY_LLM_API_KEY"))?.is_set, (await read(other, "PARLEY_LLM_API_KEY"))?.value],
    [true, null],
  );
  await run(["set", "PARLEY_BACKUP_AT", "04:30"]);
  assert.equal((await run(["get", "PARLEY_BACKUP_AT"])).stdout, "04:30\n");
  const exported = JSON.parse((await run(["export"])).stdout);
  assert.deepEqual([exported.PARLEY_BACKUP_AT, exported.PARLEY_LLM_API_KEY], ["04:30", undefined]);
  assert.equal(JSON.parse((await run(["export", "--secrets"])).stdout).PARLEY_LLM_API_KEY, "sk-from-stdin");
  await run(["unset", "PARLEY_BACKUP_AT"]);
  assert.equal((await read(api, "PARLEY_BACKUP_AT"))?.source, "default");
  const wrong = await runWith('{"PARLEY_BACKUP_AT": "05:00", "PARLEY_MAX_DURATION": "soon"}', "import", "-");
  assert.match(wrong.stderr, /PARLEY_MAX_DURATION must be a duration/);
  assert.equal((await read(api, "PARLEY_BACKUP_AT"))?.source, "default");
  assert.match((await run(["set", "PARLEY_BACKUP_ATT", "x"])).stderr, /did you mean PARLEY_BACKUP_AT/);
  const tried = await run(["test", "backups", "--json"]);
  assert.equal(tried.code, 1);
  assert.equal(JSON.parse(tried.stdout).passed, false);
});

test("a file of settings counts before the app, and locks it", async () => {
  writeFileSync(file, JSON.stringify({ PARLEY_BACKUP_AT: "06:00" }));
  const set = await run(["set", "PARLEY_BACKUP_AT", "04:30"], { PARLEY_SETTINGS_FILE: file });
  assert.match(set.stderr, /are in the file that PARLEY_SETTINGS_FILE names/);
  const { stdout } = await run(["list", "--json"], { PARLEY_SETTINGS_FILE: file });
  const shown = JSON.parse(stdout).find(({ name }: Shown) => name === "PARLEY_BACKUP_AT");
  assert.deepEqual([shown.value, shown.source], ["06:00", "file"]);
});
