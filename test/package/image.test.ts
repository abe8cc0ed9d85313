import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
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
const media = fileURLToPath(new URL("../fixtures/media/good-faststart.mp4", import.meta.url));
const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** The image's configuration, as `docker inspect` shows it. */
interface ImageConfig {
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** Mounts the root read-only, with /data and an empty /tmp, and runs the command as the image's user without capabilities. */
const enter = `
set -e
root=$1 data=$2
shift 2
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
exec chroot "$root" setpriv --reuid parley --regid parley --clear-groups --no-new-privs --bounding-set=-all "$@"
`;

const reason =
  process.getuid?.() !== 0
    ? "needs root"
    : !isFullRun
      ? "takes minutes: npm run test:full, or TEST_FULL=1"
      : skipWithout("mmdebstrap", "buildah", "unshare", "chroot", "setpriv");

test("the image runs as its user on a read-only root: sign-in, upload, health check and SIGTERM work", {
  skip: reason,
}, async () => {
  // Not in /tmp, which may be in memory.
  const folder = mkdtempSync("/var/tmp/parley-image-");
  const data = join(folder, "data");
  after(async () => {
    await run(build, ["--remove", folder]);
  });
  await run(build, [folder], { maxBuffer: 64 * 1024 * 1024 });
  const root = join(folder, "root");
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as ImageConfig;
  const { stdout: size } = await run("du", ["-sm", `${root}/app/node_modules`]);
  assert.ok(Number.parseInt(size, 10) < 500, size);
  assert.equal(existsSync(join(root, "app", "node_modules", "vite")), false);

  mkdirSync(data);
  chmodSync(data, 0o700);
  chownSync(data, 10_001, 10_001);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const env = [...config.Env, `PARLEY_PORT=${port}`, `PARLEY_BASE_URL=${url}`];
  const inImage = (command: readonly string[]) =>
    spawn(
      "unshare",
      [
        ..."--mount --pid --fork --kill-child sh -c".split(" "),
        enter,
        "sh",
        root,
        data,
        ...["env", "-i", "-C", config.WorkingDir, ...env],
        ...command,
      ],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
  const server = inImage([...config.Entrypoint, ...config.Cmd]);
  const ended = once(server, "exit");
  // unshare's child, which is process 1 inside.
  const init = (): number =>
    Number(readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim());
  after(async () => {
    if (server.exitCode === null) process.kill(init(), "SIGKILL");
    await ended;
  });
  let log = "";
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  await until("the image serves", async () => {
    assert.equal(server.exitCode, null, log);
    return (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
  });
  const [kind, ...healthCheck] = config.Healthcheck.Test;
  assert.equal(kind, "CMD");
  assert.deepEqual(await once(inImage(healthCheck), "exit"), [0, null]);

  const file = readFileSync(join(data, "first-sign-in.txt"), "utf8");
  const [, email, password] = /email +(\S+)\s+password +(\S+)/.exec(file) ?? [];
  const [token] = /parley_pat_[\w-]+/.exec(file) ?? [];
  const signedIn = await fetch(`${url}/_/api/v1/session`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ email, password }),
  });
  assert.equal(signedIn.status, 200, await signedIn.text());
  const page = await fetch(`${url}/sign-in`);
  assert.match(await page.text(), /\/assets\//);
  const { stdout: recordingId } = await run(process.execPath, [main, "upload", media, "--wait"], {
    env: { ...process.env, PARLEY_URL: url, PARLEY_TOKEN: token, XDG_STATE_HOME: folder },
  });
  assert.match(recordingId, /^[0-9a-f-]{36}\s*$/);

  process.kill(init(), "SIGTERM");
  assert.deepEqual(await ended, [0, null], log);
  assert.match(log, /"msg":"stopped"/);
});
