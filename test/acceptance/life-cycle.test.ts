import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { call, currentVersion } from "../support/app.ts";
import { freePort } from "../support/port.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** Runs a command that is expected to fail. */
async function runFailing(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; stderr: string }> {
  return promisify(execFile)(process.execPath, [main, ...args], { env: { ...process.env, ...env } }).then(
    () => assert.fail(`${args.join(" ")} should have failed`),
    (error: { code: number; stderr: string }) => ({ code: error.code, stderr: error.stderr.trim() }),
  );
}

function ended(child: ReturnType<typeof spawn>): Promise<unknown> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once("exit", resolve));
}

test("first start: prints address, sign-in and a curl line that works when pasted; the demo fills a workspace", async () => {
  const server = await prepareServer();
  after(() => server.dispose());
  await server.start();
  const { stdout } = await until("the banner is printed", () => {
    const output = server.output();
    return output.stdout.includes("curl ") && output;
  });
  assert.match(stdout, new RegExp(`http://localhost:${server.env.PARLEY_PORT}`));
  assert.match(stdout, /email +\S+@\S+/);
  assert.match(stdout, /password +\S+/);
  const curl = stdout.split("\n").find((line) => line.trim().startsWith("curl "));
  const { stdout: answer } = await promisify(execFile)("sh", [
    "-c",
    curl?.replace("localhost", "127.0.0.1") ?? "false",
  ]);
  assert.equal(JSON.parse(answer).users.length, 1);

  const workspaceId = await parley(server, "demo", "--minutes", "0.5");
  assert.equal(await parley(server, "demo", "--minutes", "0.5"), workspaceId);
  const token = await parley(
    server,
    "token",
    "create",
    "--email",
    "marit.aalvik@wrackline.example",
    "--workspace",
  );
  const listed = await call(server, "POST", "/recordings", { include: { participants: true } }, { token });
  assert.ok(listed.body.recordings.length >= 12);
  const types = new Set(
    listed.body.recordings.map(
      (recording: { meeting_type: { name: string } }) => recording.meeting_type.name,
    ),
  );
  assert.ok(types.size >= 9);

  // No secret in the log, whatever was sent.
  await call(server, "POST", "/recordings", { filter: { title_search: "body-secret" } }, { token });
  const { stderr } = server.output();
  for (const secret of [token, "parley_pat_", "parley_wat_", "body-secret"])
    assert.equal(stderr.includes(secret), false);
  for (const line of stderr.trim().split("\n")) assert.doesNotThrow(() => JSON.parse(line), line);
  assert.equal(await server.stop(), 0);
});

test("a second start: keeps everything and shows no password again", async () => {
  const server = await prepareServer();
  after(() => server.dispose());
  await server.start();
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  await server.stop();
  const before = server.output().stdout.length;
  await server.start();
  assert.equal((await call(server, "POST", "/users", {}, { token })).status, 200);
  const banner = await until("the banner is printed", () => {
    const text = server.output().stdout.slice(before);
    return text.includes("curl ") && text;
  });
  assert.doesNotMatch(banner, /password/);
  const line = banner.split("\n").find((text) => text.trim().startsWith("curl "));
  const pasted = line
    ?.replace("localhost", "127.0.0.1")
    .replace("npx parley", `${process.execPath} ${main}`)
    .replace("YOUR_EMAIL", "admin@parley.local");
  const { stdout } = await promisify(execFile)("sh", ["-c", pasted ?? "false"], {
    env: { ...process.env, ...server.env },
  });
  assert.equal(JSON.parse(stdout).users.length, 1);
});

test("SIGTERM: requests in flight are answered, then the process ends with 0", async () => {
  const server = await prepareServer();
  after(() => server.dispose());
  await server.start();
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  const segments = Array.from({ length: 20_000 }, (_, index) => ({
    speaker_key: "a",
    start: index,
    end: index + 1,
    text: "x".repeat(50),
  }));
  const body = { media_type: "transcript", attributes: { transcript: { language: "en", segments } } };
  const bytes = Buffer.from(JSON.stringify(body));
  const asking = httpRequest(`${server.url}/_/public-api/v2/uploads/create`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "public-api-version": currentVersion,
      "content-type": "application/json",
      "content-length": bytes.length,
      expect: "100-continue",
    },
  });
  const answered = once(asking, "response");
  asking.flushHeaders();
  await once(asking, "continue");
  asking.write(bytes.subarray(0, bytes.length / 2));
  const stopped = server.stop();
  await until("nobody new is let in", async () => {
    const health = await fetch(`${server.url}/healthz`).catch(() => null);
    return health?.status !== 200;
  });
  asking.end(bytes.subarray(bytes.length / 2));
  const [response] = await answered;
  const answer = { status: response.statusCode, body: (await json(response)) as { id: string } };
  const code = await stopped;
  assert.equal(answer.status, 200);
  assert.equal(code, 0);
  await server.start();
  await until("the upload became a recording after the restart", async () => {
    const upload = await call(server, "POST", `/uploads/${answer.body.id}`, {}, { token });
    return upload.body.status === "success";
  });
});

test("roles: an API process takes uploads and a worker process promotes them, on one database", async () => {
  const api = await prepareServer({ env: { PARLEY_ROLE: "api" } });
  const worker = await prepareServer({ env: { PARLEY_ROLE: "worker" }, shared: api });
  const second = await prepareServer({ env: { PARLEY_ROLE: "api" }, shared: api });
  after(async () => {
    await worker.dispose();
    await second.dispose();
    await api.dispose();
  });
  // All at once on an empty database: one of them migrates it.
  await Promise.all([api.start(), worker.start(), second.start()]);
  const told = [api, worker, second].filter((server) => /password +\S/.test(server.output().stdout));
  assert.equal(told.length, 1, "one of the API processes shows the first sign-in");
  const token = await parley(api, "token", "create", "--email", "admin@parley.local");
  const body = { media_type: "transcript", attributes: { transcript: { language: "en", segments: [] } } };
  const { body: upload } = await call(api, "POST", "/uploads/create", body, { token });
  await until("the other API process shows the recording", async () => {
    const read = await call(second, "POST", `/uploads/${upload.id}`, {}, { token });
    return read.body.status === "success";
  });
});

test("a wrong setting, a taken port and an unreachable database each stop the start with one line", async () => {
  const wrong = await runFailing({ PARLEY_PORT: "eighty" }, "serve");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^parley: wrong setting: PARLEY_PORT must be a whole number.*$/);

  const folder = await runFailing({ PARLEY_DATA_DIR: "/proc/parley", PARLEY_LOG_LEVEL: "silent" }, "serve");
  assert.match(folder.stderr, /^parley: wrong setting: PARLEY_DATA_DIR \/proc\/parley can't be used: .*$/);

  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve));
  const server = await prepareServer();
  const { port } = blocker.address() as AddressInfo;
  const taken = await runFailing(
    { ...server.env, PARLEY_PORT: String(port), PARLEY_LOG_LEVEL: "silent" },
    "serve",
  );
  assert.match(taken.stderr, new RegExp(`^parley: port ${port} .*PARLEY_PORT$`));
  await new Promise((resolve) => blocker.close(resolve));
  await server.dispose();

  const unreachable = await runFailing(
    { PARLEY_DATABASE_URL: `postgres://a:b@127.0.0.1:${await freePort()}/x`, PARLEY_LOG_LEVEL: "silent" },
    "serve",
  );
  assert.match(unreachable.stderr, /^parley: the database at PARLEY_DATABASE_URL can't be reached .*$/);
  assert.doesNotMatch(unreachable.stderr, /a:b/);
});

test("embedded database: killed with -9, server and PostgreSQL both, it comes back with everything; a second server is refused", async () => {
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
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
        return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
      },
      60_000,
    );
    return child;
  };
  const first = await start();
  const token = await parley({ env }, "token", "create", "--email", "admin@parley.local");
  const refused = await runFailing({ ...env, PARLEY_PORT: String(await freePort()) }, "serve");
  assert.match(refused.stderr, /^parley: another Parley server is already running on .*$/);
  first.kill("SIGKILL");
  await ended(first);

  const second = await start();
  assert.equal((await call({ url }, "POST", "/users", {}, { token })).status, 200);
  const { stdout } = await promisify(execFile)("pgrep", ["-f", "-o", `postgres.*${folder.slice(0, 20)}`]);
  process.kill(Number(stdout.trim()), "SIGKILL");
  await until(
    "the server has its database back",
    async () => {
      const answer = await call({ url }, "POST", "/users", {}, { token }).catch(() => null);
      return answer?.status === 200;
    },
    60_000,
  );
  second.kill("SIGTERM");
  await ended(second);
  assert.equal(second.exitCode, 0);
});
