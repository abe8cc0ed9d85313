import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { BufferSource, Input as MediaFile, MP4 } from "mediabunny";
import { call } from "../support/app.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const server = await prepareServer({ env: { PARLEY_SWEEP_INTERVAL: "500ms" } });
after(() => server.dispose());

/** How often the server is killed while it cuts; KILLS asks for more. */
const kills = Number(process.env.KILLS ?? 4);

test(`public links: killed ${kills} times while parts are cut, each link plays its part in the end, and a revoked one stays dead`, async () => {
  await server.start();
  const workspace = await parley(server, "workspace", "create", "--name", "Killed");
  const email = "k@killed.example";
  await parley(server, "user", "create", "--email", email, "--name", "K", "--workspace", workspace);
  const token = await parley(server, "token", "create", "--email", email);
  const ask = (method: string, path: string, body?: unknown) =>
    call(server, method, `/_/api/v1${path}`, body, { token, version: null });
  const recordingId = await makeRecording(token);

  /** A link to a new highlight. */
  const makeLink = async (timestamp: number) => {
    const body = { text: "Look", timestamp, duration: 2000 };
    const highlight = await ask("POST", `/recordings/${recordingId}/highlights`, body);
    const link = await ask("POST", `/highlights/${highlight.body.id}/links`, {});
    assert.equal(link.status, 200, link.text);
    return link.body as { id: string; url: string };
  };
  const view = (link: { url: string }) =>
    ask("GET", `/shared/${link.url.slice(link.url.lastIndexOf("/") + 1)}`);

  const made = [];
  let seenPreparing = 0;
  for (let round = 0; round < kills; round++) {
    const link = await makeLink(round * 1500);
    made.push(link);
    // Right after the link was acknowledged, and in the middle of the work.
    if (round % 2 === 1)
      await until("a part is being cut", async () => (isCutting() ? true : undefined), 20_000);
    const { body } = await view(link);
    if (body.items[0].state === "preparing") seenPreparing += 1;
    await server.kill();
    await server.start();
  }
  assert.ok(seenPreparing > 0, "it was never killed while at it");
  const revoked = await makeLink(9000);
  assert.equal((await ask("DELETE", `/links/${revoked.id}`)).status, 200);
  await server.kill();
  await server.start();
  assert.equal((await view(revoked)).status, 404);

  for (const link of made) {
    const item = await until(
      "the part is cut",
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

/** Folders of work that was seen before: what is killed leaves them behind. */
const leftBehind = new Set<string>();

/** Whether the media program has begun with something new: it has a folder of its own. */
function isCutting(): boolean {
  const scratch = join(server.env.PARLEY_DATA_DIR ?? "", "scratch");
  const folders = existsSync(scratch) ? readdirSync(scratch).filter((name) => name.startsWith("work-")) : [];
  const cutting = folders.filter((name) => !leftBehind.has(name));
  for (const name of folders) leftBehind.add(name);
  return cutting.length > 0;
}

async function makeRecording(token: string): Promise<string> {
  const { body } = await call(server, "POST", "/uploads/create", { media_type: "video" }, { token });
  const { url, headers } = body.media.upload;
  const film = readFileSync(new URL("../fixtures/media/good-faststart.mp4", import.meta.url));
  const sent = await fetch(url.replace("localhost", "127.0.0.1"), {
    method: "PUT",
    headers,
    body: film as unknown as ArrayBuffer,
  });
  assert.equal(sent.status, 200);
  return until(
    "the film is a recording",
    async () => {
      const upload = await call(server, "POST", `/uploads/${body.id}`, {}, { token });
      return upload.body.recording_id ?? undefined;
    },
    60_000,
  );
}
