import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isFullRun } from "../support/full.ts";
import { freePort } from "../support/port.ts";
import { skipWithout } from "../support/programs.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const build = fileURLToPath(new URL("build-image.sh", import.meta.url));
const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));

/** A folder in which build-image.sh has built the image, which stays; without it, the test builds one and removes it. */
const built = process.env.IMAGE;

/** Long enough for an image for another processor, which runs in an emulator. */
const timeoutMs = 10 * 60_000;

/** `stop_grace_period` in the compose files. */
const stopMs = 75_000;

/** The image's configuration, as `docker inspect` shows it. */
interface ImageConfig {
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Runs the command as the image's user without capabilities. */
const asUser =
  "setpriv --reuid parley --regid parley --clear-groups --no-new-privs --bounding-set=-all".split(" ");

/** Mounts the root read-only, with /data and an empty /tmp, and runs the command in it. */
const enter = `
set -e
root=$1 data=$2
shift 2
cp /etc/hosts "$root/etc/hosts"
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
exec chroot "$root" "$@"
`;

const reason =
  process.getuid?.() !== 0
    ? "needs root"
    : !isFullRun
      ? "takes minutes: npm run test:full, or TEST_FULL=1"
      : skipWithout("mmdebstrap", "buildah", "unshare", "nsenter", "chroot", "setpriv");

test("the image runs as its user on a read-only root: health check, commands, upload, transcription, summary, backup and SIGTERM work", {
  skip: reason,
}, async () => {
  // Not in /tmp, which may be in memory.
  const folder = built ?? mkdtempSync("/var/tmp/parley-image-");
  if (built === undefined) {
    after(async () => {
      await run(build, ["--remove", folder]);
    });
    await run(build, [folder], { maxBuffer: 64 * 1024 * 1024 });
  }
  const root = join(folder, "root");
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as ImageConfig;
  const { stdout: bytes } = await run("du", ["-sb", `${root}/`]);
  assert.ok(Number.parseInt(bytes, 10) < 550_000_000, bytes);
  assert.equal(existsSync(join(root, "app", "node_modules", "vite")), false);

  const data = mkdtempSync(join(folder, "data-"));
  for (const kind of ["speech", "language"])
    cpSync(join(fixtures, kind), join(data, kind), { recursive: true });
  chmodSync(data, 0o700);
  chownSync(data, 10_001, 10_001);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const inApp = [
    ...asUser,
    ...["env", "-i", "-C", config.WorkingDir],
    ...[...config.Env, `PARLEY_PORT=${port}`, `PARLEY_BASE_URL=${url}`],
  ];
  const server = spawn(
    "unshare",
    [
      ..."--mount --pid --fork --kill-child sh -c".split(" "),
      ...[enter, "sh", root, data, ...inApp, ...config.Entrypoint, ...config.Cmd],
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = once(server, "exit");
  // unshare's child, which is process 1 inside.
  const init = (): number =>
    Number(readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim());
  after(async () => {
    if (server.exitCode === null) process.kill(init(), "SIGKILL");
    await ended;
  });
  /** Runs a command beside the server, as `docker exec` does. @returns what it prints. */
  const exec = async (...command: string[]): Promise<string> => {
    const place = ["--target", `${init()}`, "--mount", "--pid", "--root", "--wd"];
    const { stdout } = await run("nsenter", [...place, ...inApp, ...command]);
    return stdout.trim();
  };
  let log = "";
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  await until(
    "the image serves",
    async () => {
      assert.equal(server.exitCode, null, log);
      return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
    },
    timeoutMs,
  );
  const [kind, ...healthCheck] = config.Healthcheck.Test;
  assert.equal(kind, "CMD");
  await exec(...healthCheck);
  await assert.rejects(exec("touch", "/app/file"), /Read-only file system/);

  const file = readFileSync(join(data, "first-sign-in.txt"), "utf8");
  const [, email, password] = /email +(\S+)\s+password +(\S+)/.exec(file) ?? [];
  const signedIn = await fetch(`${url}/_/api/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(signedIn.status, 200, await signedIn.text());
  const page = await fetch(`${url}/sign-in`);
  assert.match(await page.text(), /\/assets\//);

  const workspace = await exec("parley", "workspace", "create", "--name", "Second");
  const user = ["--email", "ada@example.com"];
  await exec("parley", "user", "create", ...user, "--name", "Ada", "--workspace", workspace);
  const token = await exec("parley", "token", "create", ...user);
  await exec("parley", "models", "install", "tiny", "--from", "/data/speech/tiny-transducer");
  await exec("parley", "models", "install", "voices", "--from", "/data/speech/voice-lda");
  const settings = [`PARLEY_URL=${url}`, `PARLEY_TOKEN=${token}`, "XDG_STATE_HOME=/tmp"];
  const id = await exec("env", ...settings, "parley", "upload", "/data/speech/espeak2.wav", "--wait");
  const { segments } = await until(
    "the recording is transcribed",
    async () => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/_/api/v1/recordings/${id}`, { headers });
      const { transcript } = (await response.json()) as {
        transcript: { segments: number; transcription: { status: string } };
      };
      return transcript.transcription.status === "done" && transcript;
    },
    timeoutMs,
  );
  assert.ok(segments > 0);
  // What loads parts of packages of which the image has not all.
  const headers = { authorization: `Bearer ${token}` };
  for (const path of [
    "/docs/assets/swagger-ui-bundle.js",
    "/docs/assets/swagger-ui.css",
    `/_/api/v1/recordings/${id}/document.docx`,
  ])
    assert.equal((await fetch(`${url}${path}`, { headers })).status, 200, path);
  await exec("parley", "models", "install", "small", "--from", "/data/language/tiny-random.gguf");
  const summary = `${url}/_/api/v1/recordings/${id}/intelligence`;
  const post = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body: "{}" };
  await until("the server knows the language model", async () => (await fetch(summary, post)).ok, timeoutMs);
  await until(
    "the recording is summarized",
    async () => {
      const run = (await (await fetch(summary, { headers })).json()) as { status: string; message: string };
      assert.notEqual(run.status, "failed", run.message);
      return run.status === "done";
    },
    timeoutMs,
  );
  await exec("parley", "backup", "/data/backups");
  await exec("parley", "backup", "verify", "/data/backups");

  const stoppedAt = Date.now();
  process.kill(init(), "SIGTERM");
  assert.deepEqual(await ended, [0, null], log);
  assert.ok(Date.now() - stoppedAt < stopMs);
  assert.match(log, /"msg":"PostgreSQL stopped"/);
  assert.match(log, /"msg":"stopped"/);
});
