import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { BufferSource, Input as MediaFile, MP4 } from "mediabunny";
import { call } from "../support/call.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const server = await prepareServer({ env: { PARLEY_SWEEP_INTERVAL: "500ms" } });
after(() => server.dispose());

/** How often the server is killed while it renders clips; set with KILLS. */
const kills = Number(process.env.KILLS ?? 2);

test(`killed ${kills} times while rendering clips, every link plays its clip in the end, and a revoked link stays revoked`, async () => {
  await server.start();
  const workspace = await parley(server, "workspace", "create", "--name", "Killed");
  const email = "k@killed.example";
  await parley(server, "user", "create", "--email", email, "--name", "K", "--workspace", workspace);
  const token = await parley(server, "token", "create", "--email", email);
  const send = (method: string, path: string, body?: unknown) =>
    call(server, method, `/_/api/v1${path}`, body, { token, version: null });
  const recordingId = await makeRecording(token);

  /** A link to a new highlight. */
  const makeLink = async (timestamp: number) => {
    const body = { text: "Look", timestamp, duration: 2000 };
    const highlight = await send("POST", `/recordings/${recordingId}/highlights`, body);
    const link = await send("POST", `/highlights/${highlight.body.id}/links`, {});
    assert.equal(link.status, 200, link.text);
    return link.body as { id: string; url: string };
  };
  const view = (link: { url: string }) =>
    send("GET", `/shared/${link.url.slice(link.url.lastIndexOf("/") + 1)}`);

  const made = [];
  let seenPreparing = 0;
  for (let round = 0; round < kills; round++) {
    const link = await makeLink((round * 700) % 9000);
    made.push(link);
    // Right after the response, or while rendering.
    if (round % 2 === 1)
      await until("a clip is being rendered", async () => (isRendering() ? true : undefined), 20_000);
    const { body } = await view(link);
    if (body.items[0].state === "preparing") seenPreparing += 1;
    await server.kill();
    await server.start();
  }
  assert.ok(seenPreparing > 0, "the server was never killed while rendering");
  const revoked = await makeLink(9000);
  assert.equal((await send("DELETE", `/links/${revoked.id}`)).status, 200);
  await server.kill();
  await server.start();
  assert.equal((await view(revoked)).status, 404);

  for (const link of made) {
    const item = await until(
      "the clip is rendered",
      async () => {
        const { body } = await view(link);
        assert.notEqual(body.items[0].state, "failed");
        return body.items[0].state === "ready" ? body.items[0] : undefined;
      },
      60_000,
    );
    const response = await fetch(item.media_url.replace("localhost", "127.0.0.1"));
    assert.equal(response.status, 200);
    using file = new MediaFile({ source: new BufferSource(await response.arrayBuffer()), formats: [MP4] });
    assert.ok(Math.abs((await file.computeDuration()) - 2) < 0.08);
  }
});

/** Scratch folders seen before; killed processes leave them behind. */
const leftBehind = new Set<string>();

/** Whether rendering of another clip has started, which creates a scratch folder. */
function isRendering(): boolean {
  const scratch = join(server.env.PARLEY_DATA_DIR ?? "", "scratch");
  const folders = existsSync(scratch) ? readdirSync(scratch).filter((name) => name.startsWith("work-")) : [];
  const rendering = folders.filter((name) => !leftBehind.has(name));
  for (const name of folders) leftBehind.add(name);
  return rendering.length > 0;
}

async function makeRecording(token: string): Promise<string> {
  const { body } = await call(server, "POST", "/uploads/create", { media_type: "video" }, { token });
  const { url, headers } = body.media.upload;
  const video = readFileSync(new URL("../fixtures/media/good-faststart.mp4", import.meta.url));
  const sent = await fetch(url.replace("localhost", "127.0.0.1"), {
    method: "PUT",
    headers,
    body: video,
  });
  assert.equal(sent.status, 200);
  return until(
    "the upload is a recording",
    async () => {
      const upload = await call(server, "POST", `/uploads/${body.id}`, {}, { token });
      return upload.body.recording_id ?? undefined;
    },
    60_000,
  );
}
