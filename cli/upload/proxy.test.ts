import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call } from "../../test/support/call.ts";
import { startNginx } from "../../test/support/nginx.ts";
import { writePaddedMedia } from "../../test/support/padded-media.ts";
import { freePort } from "../../test/support/port.ts";
import { skipWithout } from "../../test/support/programs.ts";
import { parley, prepareServer } from "../../test/support/server-process.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const mebibyte = 1024 * 1024;

test("upload through nginx with its default limit: chunks shrink to 1 MiB and files become recordings", {
  skip: skipWithout("nginx"),
}, async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const folder = mkdtempSync(join(tmpdir(), "parley-proxy-"));
  const server = await prepareServer({
    env: { PARLEY_BASE_URL: url, PARLEY_TRUSTED_PROXIES: "127.0.0.1", PARLEY_DRAIN: "0s" },
  });
  after(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  await server.start();
  await startNginx(port, server.url);
  const token = await parley(server, "token", "create", "--email", "admin@parley.local");
  const paths = [
    ["large.mp4", "good-faststart.mp4", 20 * mebibyte],
    ["large.mov", "onestep-h264-aac.mov", 5 * mebibyte + 1],
  ] as const;
  for (const [name, fixture, bytes] of paths) writePaddedMedia(join(folder, name), fixture, bytes);
  const child = spawn(
    process.execPath,
    [main, "upload", ...paths.map(([name]) => join(folder, name)), "--wait"],
    {
      env: { ...process.env, PARLEY_URL: url, PARLEY_TOKEN: token, XDG_STATE_HOME: folder },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  assert.equal(code, 0, stderr);
  const ids = stdout.trim().split("\n");
  assert.equal(ids.length, 2, stdout);
  for (const id of ids)
    assert.equal((await call(server, "POST", `/recordings/${id}`, {}, { token })).status, 200);
});
