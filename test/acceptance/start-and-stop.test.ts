import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import pg from "pg";
import { createTestDatabase } from "../support/database.ts";
import { freePort } from "../support/port.ts";
import { parley, prepareServer, runParley, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** Runs a command until it exits. */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  return { code, stderr };
}

test("a port in use is reported before anything is created or migrated, in one line", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await until("the port is in use", async () => taken.listening);
  const { port } = taken.address() as { port: number };
  const folder = join(tmpdir(), `parley-never-created-${process.pid}`);
  const database = await createTestDatabase("template1");
  const env = { PARLEY_PORT: String(port), PARLEY_DATA_DIR: folder };
  for (const more of [{}, { PARLEY_DATABASE_URL: database.url }]) {
    const { code, stderr } = await runParley({ env: { ...env, ...more } }, "serve");
    assert.notEqual(code, 0);
    assert.match(stderr, new RegExp(`^parley: port ${port} on 127\\.0\\.0\\.1 is in use.*PARLEY_PORT\\n$`));
    assert.equal(existsSync(folder), false);
  }
  const client = new pg.Client(database.settings);
  await client.connect();
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public'");
  assert.deepEqual(rows, []);
  await client.end();
  taken.close();
  await database.drop();
});

test("npm start stops with the reason when the web app can't be built, before anything is created", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-no-web-"));
  // Makes the build fail, as it would without memory or disk space.
  const failing = join(folder, "fail.mjs");
  writeFileSync(failing, `if (process.argv[1].endsWith("build-web.ts")) throw new Error("no space left");`);
  const env = {
    PARLEY_PORT: String(await freePort()),
    PARLEY_DATA_DIR: join(folder, "data"),
    NODE_OPTIONS: `--import=${pathToFileURL(failing)}`,
  };
  const { code, stderr } = await run(["serve", "--build-web"], env);
  assert.notEqual(code, 0);
  assert.match(stderr, /no space left/);
  assert.match(stderr, /\nparley: the web app could not be built, so the server did not start/);
  assert.equal(existsSync(join(folder, "data")), false);
  rmSync(folder, { recursive: true });
});

test("parley migrate applies the migrations to an empty database, and then says that it is up to date", async () => {
  const database = await createTestDatabase("template1");
  const folder = mkdtempSync(join(tmpdir(), "parley-empty-"));
  const env = { PARLEY_DATA_DIR: folder, PARLEY_DATABASE_URL: database.url };
  const first = await runParley({ env }, "migrate");
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /^applied 0001_.*\n(?:applied .*\n)*the database is up to date\n$/);
  const second = await runParley({ env }, "migrate");
  assert.deepEqual([second.code, second.stderr], [0, "the database is up to date\n"]);
  rmSync(folder, { recursive: true });
  await database.drop();
});

const one = await prepareServer({ env: { PARLEY_DRAIN: "1500ms", PARLEY_ROLE: "api" } });
const two = await prepareServer({ shared: one, env: { PARLEY_DRAIN: "1500ms", PARLEY_ROLE: "api" } });
after(async () => {
  await two.dispose();
  await one.dispose();
});

test("a second signal stops a draining server immediately", async () => {
  const slow = await prepareServer({ shared: one, env: { PARLEY_DRAIN: "5m", PARLEY_ROLE: "api" } });
  await slow.start();
  const stopping = slow.stop();
  await until("the server drains", async () => (await fetch(`${slow.url}/readyz`)).status === 503);
  await sleep(1600); // A signal within 1.5 s of the first counts as the same one.
  void slow.stop();
  assert.equal(await stopping, 1);
  await slow.dispose();
});

test("restarting two API processes in turn behind a load balancer fails no request: a draining one returns 503 at /readyz and serves requests until the drain time is over", async () => {
  await Promise.all([one.start(), two.start()]);
  const token = await parley(one, "token", "create", "--email", "admin@parley.local");
  const stop = new AbortController();
  const failures: string[] = [];
  let served = 0;
  // Like a load balancer: polls each server's readiness and sends requests only to ready ones.
  const ready = new Set<ServerProcess>([one, two]);
  const checks = Promise.all(
    [one, two].map(async (server) => {
      for (; !stop.signal.aborted; await sleep(100)) {
        const isReady = (await fetch(`${server.url}/readyz`).catch(() => null))?.status === 200;
        if (isReady) ready.add(server);
        else ready.delete(server);
      }
    }),
  );
  const clients = Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      // Like proxies: with and without keep-alive.
      const agent = new Agent({ keepAlive: client % 2 === 0 });
      for (let turn = client; !stop.signal.aborted; turn += 1) {
        const outcome = await sendToOne([...ready], turn, token, agent);
        if (outcome === 200) served += 1;
        else failures.push(String(outcome));
        await sleep(60);
      }
      agent.destroy();
    }),
  );
  for (const server of [one, two, one, two]) {
    const stopping = server.stop();
    await assertDraining(server);
    assert.equal(await stopping, 0);
    await server.start();
    await until("the balancer sees both servers as ready", async () => ready.size === 2);
  }
  stop.abort();
  await Promise.all([clients, checks]);
  assert.deepEqual(failures, []);
  assert.ok(served > 500, `only ${served} requests were sent`);
});

async function assertDraining(server: ServerProcess): Promise<void> {
  const ready = await until("the server drains", async () => {
    const response = await fetch(`${server.url}/readyz`);
    return response.status === 503 && response;
  });
  assert.deepEqual(await ready.json(), { status: "stopping" });
  const served = await fetch(`${server.url}/healthz`);
  assert.equal(served.status, 200);
  assert.equal(served.headers.get("connection"), "close");
}

/** Sends a request to a server, or to the other one if the connection is refused, as proxies do by default. */
async function sendToOne(
  servers: readonly ServerProcess[],
  turn: number,
  token: string,
  agent: Agent,
): Promise<number | string> {
  const first = turn % Math.max(1, servers.length);
  for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
    const outcome = await new Promise<number | string>((resolve) => {
      const sent = request(
        `${server.url}/_/public-api/v2/users`,
        {
          method: "POST",
          agent,
          headers: { authorization: `Bearer ${token}`, "public-api-version": "2026-10-01" },
        },
        (response) => {
          response.resume().once("end", () => resolve(response.statusCode ?? 0));
        },
      );
      sent.once("error", (error: Error & { code?: string }) => resolve(error.code ?? error.message));
      sent.end();
    });
    if (outcome !== "ECONNREFUSED") return outcome;
  }
  return "no server";
}

test("a worker reports its health at the configured IP address, and is not ready without its database", async () => {
  const port = await freePort();
  const worker = await prepareServer({
    shared: one,
    env: { PARLEY_ROLE: "worker", PARLEY_HEALTH_ADDRESS: String(port) },
  });
  await worker.start();
  for (const [path, status] of [
    ["healthz", "ok"],
    ["readyz", "ready"],
  ]) {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`);
    assert.equal(response.status, 200);
    const body = (await response.json()) as { status: string; jobs: string };
    assert.deepEqual([body.status, body.jobs], [status, "processing"]);
  }
  assert.equal((await fetch(`http://127.0.0.1:${port}/else`)).status, 404);
  assert.equal(await worker.stop(), 0);
  await worker.dispose();
});
