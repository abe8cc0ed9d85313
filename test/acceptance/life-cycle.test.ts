import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { postmastersIn } from "../../server/platform/db/embedded/test/support.ts";
import { call, currentVersion } from "../support/call.ts";
import { freePort } from "../support/port.ts";
import { skipWithout } from "../support/programs.ts";
import { parley, prepareServer, runParley } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** Runs a start that is expected to fail. */
async function startFailing(env: Record<string, string>): Promise<{ code: number; stderr: string }> {
  const { code, stderr } = await runParley({ env }, "serve");
  assert.notEqual(code, 0, "the start should have failed");
  return { code, stderr: stderr.trim() };
}

function ended(child: ReturnType<typeof spawn>): Promise<unknown> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", resolve));
}

const server = await prepareServer({ isEmpty: true });
after(() => server.dispose());

test("the first start writes the password and a working curl command to a private file", async (t) => {
  await server.start();
  const { stdout } = await until("the banner is printed", () => {
    const output = server.output();
    return output.stdout.includes("first-sign-in.txt") && output;
  });
  assert.match(stdout, new RegExp(`http://localhost:${server.env.PARLEY_PORT}`));
  // Standard output is not a terminal here and may be a log.
  assert.doesNotMatch(stdout, /password|parley_pat_/);
  const file = join(server.env.PARLEY_DATA_DIR ?? "", "first-sign-in.txt");
  assert.ok(stdout.includes(file));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const signIn = readFileSync(file, "utf8");
  assert.match(signIn, /email +\S+@\S+/);
  assert.match(signIn, /password +\S+/);
  const curl = signIn.split("\n").find((line) => line.trim().startsWith("curl "));
  await t.test("the curl command works when pasted", { skip: skipWithout("curl") }, async () => {
    const { stdout: response } = await promisify(execFile)("sh", [
      "-c",
      curl?.replace("localhost", "127.0.0.1") ?? "false",
    ]);
    assert.equal(JSON.parse(response).users.length, 1);
  });

  const token = await parley(server, "token", "create", "--email", "admin@parley.local", "--workspace");
  // The log contains no secrets of requests.
  await call(server, "POST", "/recordings", { filter: { title_search: "body-secret" } }, { token });
  const { stderr } = server.output();
  for (const secret of [token, "parley_pat_", "parley_wat_", "body-secret"])
    assert.equal(stderr.includes(secret), false);
  for (const line of stderr.trim().split("\n")) assert.doesNotThrow(() => JSON.parse(line), line);
});

/** The length of what the first start has printed. */
let firstOutput = 0;
/** Created before the second start. */
let token = "";

test("SIGTERM: requests in flight get their responses, then the process exits with 0", async () => {
  token = await parley(server, "token", "create", "--email", "admin@parley.local");
  const segments = Array.from({ length: 1000 }, (_, index) => ({
    speaker_key: "a",
    start: index,
    end: index + 1,
    text: "x".repeat(50),
  }));
  const body = { media_type: "transcript", attributes: { transcript: { language: "en", segments } } };
  const bytes = Buffer.from(JSON.stringify(body));
  const upload = httpRequest(`${server.url}/_/public-api/v2/uploads/create`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "public-api-version": currentVersion,
      "content-type": "application/json",
      "content-length": bytes.length,
      expect: "100-continue",
    },
  });
  const responded = once(upload, "response");
  upload.flushHeaders();
  await once(upload, "continue");
  upload.write(bytes.subarray(0, bytes.length / 2));
  const stopped = server.stop();
  await until("new connections are refused", async () => {
    const health = await fetch(`${server.url}/healthz`).catch(() => null);
    return health?.status !== 200;
  });
  upload.end(bytes.subarray(bytes.length / 2));
  const [incoming] = await responded;
  const response = { status: incoming.statusCode, body: (await json(incoming)) as { id: string } };
  const code = await stopped;
  assert.equal(response.status, 200);
  assert.equal(code, 0);
  firstOutput = server.output().stdout.length;
  await server.start();
  await until("the upload became a recording after the restart", async () => {
    const read = await call(server, "POST", `/uploads/${response.body.id}`, {}, { token });
    return read.body.status === "success";
  });
});

test("a second start keeps the data and does not show the password again", async (t) => {
  const banner = await until("the banner is printed", () => {
    const text = server.output().stdout.slice(firstOutput);
    return text.includes("curl ") && text;
  });
  assert.doesNotMatch(banner, /password/);
  assert.equal((await call(server, "POST", "/users", {}, { token })).status, 200);
  const line = banner.split("\n").find((text) => text.trim().startsWith("curl "));
  const pasted = line
    ?.replace("localhost", "127.0.0.1")
    .replace("npx parley", `${process.execPath} ${main}`)
    .replace("YOUR_EMAIL", "admin@parley.local");
  await t.test("the curl command works when pasted", { skip: skipWithout("curl") }, async () => {
    const { stdout } = await promisify(execFile)("sh", ["-c", pasted ?? "false"], {
      env: { ...process.env, ...server.env },
    });
    assert.equal(JSON.parse(stdout).users.length, 1);
  });
});

test("an API process accepts uploads and a worker process promotes them, on one database", async () => {
  const api = await prepareServer({ isEmpty: true, env: { PARLEY_ROLE: "api" } });
  const worker = await prepareServer({ env: { PARLEY_ROLE: "worker" }, shared: api });
  const second = await prepareServer({ env: { PARLEY_ROLE: "api" }, shared: api });
  after(async () => {
    await worker.dispose();
    await second.dispose();
    await api.dispose();
  });
  // Started concurrently on an empty database; one of them migrates it.
  await Promise.all([api.start(), worker.start(), second.start()]);
  const reporting = [api, worker, second].filter((server) =>
    server.output().stdout.includes("first-sign-in.txt"),
  );
  assert.equal(reporting.length, 1, "exactly one API process reports the first sign-in");
  const token = await parley(api, "token", "create", "--email", "admin@parley.local");
  const body = { media_type: "transcript", attributes: { transcript: { language: "en", segments: [] } } };
  const { body: upload } = await call(api, "POST", "/uploads/create", body, { token });
  await until("the other API process shows the recording", async () => {
    const read = await call(second, "POST", `/uploads/${upload.id}`, {}, { token });
    return read.body.status === "success";
  });
});

test("an invalid setting, a port in use and an unreachable database each stop the start with a one-line error", async () => {
  const wrong = await startFailing({ PARLEY_PORT: "eighty" });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^parley: invalid setting: PARLEY_PORT must be a whole number.*$/);

  const folder = await startFailing({ PARLEY_DATA_DIR: "/proc/parley", PARLEY_LOG_LEVEL: "silent" });
  assert.match(folder.stderr, /^parley: invalid setting: PARLEY_DATA_DIR \/proc\/parley can't be used: .*$/);

  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
  const server = await prepareServer();
  const { port } = blocker.address() as AddressInfo;
  const taken = await startFailing({ ...server.env, PARLEY_PORT: String(port), PARLEY_LOG_LEVEL: "silent" });
  assert.match(taken.stderr, new RegExp(`^parley: port ${port} .*PARLEY_PORT$`));
  // Checked before a database or its folder is created.
  const untouched = join(tmpdir(), `parley-untouched-${process.pid}`);
  const early = await startFailing({
    PARLEY_DATA_DIR: untouched,
    PARLEY_PORT: String(port),
    PARLEY_LOG_LEVEL: "silent",
  });
  assert.match(early.stderr, new RegExp(`^parley: port ${port} .*PARLEY_PORT$`));
  assert.equal(existsSync(untouched), false);
  await new Promise((resolve) => blocker.close(resolve));
  await server.dispose();

  const unreachable = await startFailing({
    PARLEY_DATABASE_URL: `postgres://a:b@127.0.0.1:${await freePort()}/x`,
    PARLEY_LOG_LEVEL: "silent",
  });
  assert.match(unreachable.stderr, /^parley: the database at PARLEY_DATABASE_URL can't be reached .*$/);
  assert.doesNotMatch(unreachable.stderr, /a:b/);
});

test("embedded database: after SIGKILL of server and PostgreSQL all data is back; a second server is refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "parley embedded ø-"));
  const env = { PARLEY_DATA_DIR: folder, PARLEY_PORT: String(await freePort()), PARLEY_LOG_LEVEL: "warn" };
  const url = `http://127.0.0.1:${env.PARLEY_PORT}`;
  const children: ReturnType<typeof spawn>[] = [];
  after(async () => {
    for (const child of children) child.kill("SIGTERM");
    await Promise.all(children.map(ended));
    rmSync(folder, { recursive: true, force: true });
  });
  const start = async () => {
    const child = spawn(process.execPath, [main, "serve"], {
      env: { ...process.env, ...env },
      stdio: "ignore",
    });
    children.push(child);
    await until(
      "the server is ready",
      async () => {
        if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode}`);
        return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
      },
      60_000,
    );
    return child;
  };
  const first = await start();
  const token = await parley({ env }, "token", "create", "--email", "admin@parley.local");
  const refused = await startFailing({ ...env, PARLEY_PORT: String(await freePort()) });
  assert.match(refused.stderr, /^parley: another Parley server is already using .*$/);
  first.kill("SIGKILL");
  await ended(first);

  const second = await start();
  assert.equal((await call({ url }, "POST", "/users", {}, { token })).status, 200);
  const [postmaster] = postmastersIn(folder);
  assert.ok(postmaster !== undefined);
  process.kill(postmaster, "SIGKILL");
  await until(
    "the server is connected to its database again",
    async () => {
      const response = await call({ url }, "POST", "/users", {}, { token }).catch(() => null);
      return response?.status === 200;
    },
    60_000,
  );
  second.kill("SIGTERM");
  await ended(second);
  assert.equal(second.exitCode, 0);
});
