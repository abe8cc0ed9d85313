import assert from "node:assert/strict";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { call, currentVersion } from "../support/call.ts";
import { insertRecording, makeUser, makeWorkspace } from "../support/factories.ts";
import { startS3Server } from "../support/s3-server.ts";
import { openServerData } from "../support/server-data.ts";
import { prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const s3 = await startS3Server();
const bucket = await s3?.bucket();
const inBucket: Record<string, string> =
  s3 === null || bucket === undefined
    ? {}
    : {
        PARLEY_STORAGE: "s3",
        PARLEY_S3_ENDPOINT: s3.endpoint,
        PARLEY_S3_BUCKET: bucket,
        AWS_ACCESS_KEY_ID: s3.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      };
/** The process that serves the requests, with a bucket where there is one, and the one that ends access. */
const serving = await prepareServer({ env: { ...inBucket, PARLEY_ROLE: "api" } });
const other = await prepareServer({ env: { ...inBucket, PARLEY_ROLE: "api" }, shared: serving });
const { db, putMedia } = await openServerData(serving);
after(async () => {
  await db.close();
  await other.dispose();
  await serving.dispose();
  await s3?.stop();
});
await serving.start();
await other.start();
const workspace = await makeWorkspace(db);

/** More than fits into the buffers of a connection. */
const media = Buffer.alloc(48_000_000, "parley");

/** A request that stays open. */
interface Open {
  readonly request: ClientRequest;
  /** When its connection ended, in Unix milliseconds; null when a response arrived whole. */
  readonly ended: Promise<number | null>;
}

function open(
  url: string,
  options: {
    method: string;
    headers: Record<string, string>;
    onResponse?: (response: IncomingMessage) => void;
  },
): Open {
  const request = httpRequest(url, { method: options.method, headers: options.headers, agent: false });
  const ended = new Promise<number | null>((resolve) => {
    const isCut = (): void => resolve(Date.now());
    request.on("error", isCut);
    request.on("close", isCut);
    request.on("response", (response) => {
      response.on("error", isCut);
      response.on("end", () => resolve(null));
      if (options.onResponse) options.onResponse(response);
      else response.resume();
    });
  });
  return { request, ended };
}

/** A request whose body never ends: it sends a little again and again. */
function trickle(url: string, method: string, headers: Record<string, string>): Open {
  const one = open(url, { method, headers: { ...headers, "content-length": "300000" } });
  const timer = setInterval(() => one.request.write(Buffer.alloc(100, "x")), 50);
  void one.ended.then(() => clearInterval(timer));
  return one;
}

const asAdmin = (method: string, path: string, body?: unknown) =>
  call(other, method, `/_/api/v1${path}`, body, { token: workspace.admin.token, version: null });

const headersOf = ({ token }: { readonly token: string }) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
});

/** A request of the API whose body never ends. */
const listSlowly = (user: { readonly token: string }): Open =>
  trickle(`${serving.url}/_/public-api/v2/recordings`, "POST", {
    ...headersOf(user),
    "public-api-version": currentVersion,
  });

test("a user deactivated over another process loses a download, an upload by tus, requests and assistants within a second", async () => {
  const user = await makeUser(db, workspace);
  const recordingId = await insertRecording(db, { recorderId: user.id });
  await putMedia(recordingId, media);
  const reach = (url: string): string => url.replace("localhost", "127.0.0.1");
  const location = (
    await call(serving, "GET", `/recordings/${recordingId}/download`, undefined, { token: user.token })
  ).headers.get("location");
  let received = 0;
  let reader: IncomingMessage | undefined;
  const download = open(reach(location ?? ""), {
    method: "GET",
    headers: {},
    onResponse: (response) => {
      assert.equal(response.statusCode, 200);
      reader = response.on("data", (piece: Buffer) => {
        received += piece.length;
      });
      response.pause();
    },
  });
  download.request.end();

  const { body: upload } = await call(
    serving,
    "POST",
    "/uploads/create",
    { media_type: "video" },
    { token: user.token },
  );
  const tusUrl = reach(upload.media.upload.tus_url);
  const tus = { "tus-resumable": "1.0.0" };
  await fetch(tusUrl, { method: "POST", headers: { ...tus, "upload-length": "300000" } });
  const patch = trickle(tusUrl, "PATCH", {
    ...tus,
    "content-type": "application/offset+octet-stream",
    "upload-offset": "0",
  });
  const list = listSlowly(user);
  const toolCall = trickle(`${serving.url}/mcp`, "POST", {
    ...headersOf(user),
    accept: "application/json, text/event-stream",
  });
  const assistant = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${serving.url}/mcp`), {
    requestInit: { headers: { authorization: headersOf(user).authorization } },
  });
  await assistant.connect(transport as Parameters<Client["connect"]>[0]);
  assert.ok((await assistant.listTools()).tools.length > 0);
  await until("the download and the upload are being served", async () => {
    const { rowCount } = await db.pool.query("select 1 from resumable_leases where upload_id = $1", [
      upload.id,
    ]);
    return rowCount === 1 && reader !== undefined;
  });

  assert.equal((await asAdmin("POST", `/users/${user.id}/deactivate`)).status, 200);
  const endedAt = Date.now();
  await assert.rejects(assistant.listTools(), /401|unknown, expired, revoked/);
  const cutAt = await Promise.all([patch.ended, list.ended, toolCall.ended]);
  assert.deepEqual(
    cutAt.map((at) => at !== null && at - endedAt < 1000),
    [true, true, true],
    `cut off after ${cutAt.map((at) => (at ?? Number.NaN) - endedAt)} ms`,
  );
  // The reader has read nothing meanwhile; now it gets what had arrived on its side, and no more.
  await sleep(Math.max(0, endedAt + 1000 - Date.now()));
  reader?.resume();
  assert.notEqual(await download.ended, null, "the download is not complete");
  assert.ok(received < media.length / 2, `${received} bytes`);
  await assistant.close();
});

test("requests end within a second of their token or role", async () => {
  const [demoted, revoked] = [await makeUser(db, workspace), await makeUser(db, workspace)];
  const { body } = await asAdmin("GET", "/tokens?of=workspace");
  const token = body.tokens.find((one: { user_id: string }) => one.user_id === revoked.id);
  const cases = [
    [demoted, () => asAdmin("PATCH", `/users/${demoted.id}`, { role: "viewer" })],
    [revoked, () => asAdmin("DELETE", `/tokens/${token.id}`)],
  ] as const;
  for (const [user, end] of cases) {
    const open = listSlowly(user);
    await until("the request is authenticated", async () => {
      const { rowCount } = await db.pool.query(
        "select 1 from access_tokens where user_id = $1 and last_used_at > now() - interval '1 minute'",
        [user.id],
      );
      return rowCount === 1;
    });
    assert.equal((await end()).status, 200);
    const endedAt = Date.now();
    const at = await open.ended;
    assert.ok(at !== null && at - endedAt < 1000 && at >= endedAt - 100, `${at} ${endedAt}`);
  }
});
