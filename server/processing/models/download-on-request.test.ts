import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Socket } from "node:net";
import { after, test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { makeMediaRecording } from "../../../test/support/media-recordings.ts";
import { freePort } from "../../../test/support/port.ts";
import { until } from "../../../test/support/until.ts";

const requested: string[] = [];
const mirror = createServer((request, response) => {
  requested.push(request.url ?? "");
  response.writeHead(404).end();
});
await new Promise<void>((resolve) => mirror.listen(0, "127.0.0.1", resolve));
after(() => mirror.close());

/** Hosts that this process connects to. */
const hosts = new Set<string>();
const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  // net.connect() passes its normalized arguments as one.
  const [options] = (Array.isArray(args[0]) ? args[0] : args) as [{ host?: string; path?: string }];
  if (options.path === undefined) hosts.add(options.host ?? "localhost");
  return Reflect.apply(connect, this, args);
} as typeof connect;
after(() => {
  Socket.prototype.connect = connect;
});

const app = await startTestApp({
  port: await freePort(),
  env: {
    PARLEY_MODEL_MIRROR: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/`,
    PARLEY_SWEEP_INTERVAL: "300ms",
  },
});

test("a server without a speech model downloads none for recordings, and one only when an admin asks; it connects to no other machine", async () => {
  const { member, admin } = await makeWorkspace(app.db);
  const as = (token: string, method: string, path: string, body?: unknown) =>
    call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  const id = await makeMediaRecording(app, member.token, {}, "speech-tones.mp3");
  assert.equal((await as(member.token, "POST", `/recordings/${id}/transcription`, {})).status, 409);
  assert.equal((await as(admin.token, "GET", "/speech-models")).status, 200);
  assert.equal((await as(member.token, "POST", "/speech-models/speakers/install")).status, 403);
  assert.deepEqual(requested, []);
  const asked = await as(admin.token, "POST", "/speech-models/speakers/install");
  assert.equal(asked.status, 200, asked.text);
  await until("the model is downloaded", () => requested.length > 0);
  assert.match(requested[0] ?? "", /^\/speakers\//);
  const others = [...hosts].filter((host) => !["127.0.0.1", "::1", "localhost"].includes(host));
  assert.deepEqual(others, []);
  assert.ok(hosts.size > 0, "connections are seen");
});
