import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { call, olderVersion } from "../support/app.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const server = await prepareServer({ env: { PARLEY_SWEEP_INTERVAL: "500ms" } });
after(() => server.dispose());

/** How often the server is killed while media files are on their way; KILLS asks for more. */
const kills = Number(process.env.KILLS ?? 6);

const files = [
  ["good-index-at-end.mp4", "video"],
  ["good-cbr.mp3", "audio"],
  ["onestep-h264-aac.mov", "mov"],
  ["bad-short.mp4", "video"],
] as const;

function fixture(name: string): ArrayBuffer {
  const { buffer, byteOffset, length } = readFileSync(new URL(`../fixtures/media/${name}`, import.meta.url));
  return buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
}

test(`media: killed ${kills} times while at it, every file that was acknowledged comes to its end by itself`, async () => {
  const workspace = await parley(server, "workspace", "create", "--name", "Killed");
  await parley(
    server,
    "user",
    "create",
    "--email",
    "k@killed.example",
    "--name",
    "K",
    "--workspace",
    workspace,
  );
  const token = await parley(server, "token", "create", "--email", "k@killed.example");

  /** Uploads whose file was acknowledged, with the fixture each was given. */
  const acknowledged = new Map<string, string>();
  /** Uploads whose file may or may not have arrived. */
  const unsure = new Set<string>();

  async function send(name: string, kind: string): Promise<void> {
    const body =
      kind === "mov"
        ? (
            await call(
              server,
              "POST",
              "/recordings/upload",
              { filename: name },
              { token, version: olderVersion },
            )
          ).body
        : (await call(server, "POST", "/uploads/create", { media_type: kind }, { token })).body;
    const id = body.id ?? body.uuid;
    const target = body.media?.upload ?? { url: body.url, headers: {} };
    unsure.add(id);
    const answer = await fetch(target.url.replace("localhost", "127.0.0.1"), {
      method: "PUT",
      headers: target.headers,
      body: fixture(name),
    });
    assert.equal(answer.status, 200);
    unsure.delete(id);
    acknowledged.set(id, name);
  }

  for (let round = 0; round < kills; round++) {
    await server.start();
    const sending = Promise.all(
      // The kill may cut any of these off.
      files.map(([name, kind]) => send(name, kind).catch(() => {})),
    );
    // From the middle of sending to well into the work.
    if (round % 3 !== 0) await sending;
    await delay((round * 173) % 1500);
    await server.kill();
    await sending;
  }
  assert.ok(acknowledged.size >= kills, `${acknowledged.size} files were acknowledged`);

  await server.start();
  await until(
    "every acknowledged file has come to its end",
    async () => {
      const statuses = await Promise.all(
        [...acknowledged.keys()].map(async (id) => (await get(id, token)).status),
      );
      return statuses.every((status) => status === "success" || status === "failure");
    },
    120_000,
  );
  for (const [id, name] of acknowledged) {
    const upload = await get(id, token);
    assert.equal(
      upload.status,
      name.startsWith("bad-") ? "failure" : "success",
      `${name}: ${upload.failure?.reason}`,
    );
    if (upload.status === "failure") continue;
    const download = await fetch(`${server.url}/_/public-api/v2/recordings/${upload.recording_id}/download`, {
      headers: { authorization: `Bearer ${token}`, "public-api-version": olderVersion },
    });
    assert.equal(download.status, 200);
    assert.ok((await download.arrayBuffer()).byteLength > 10_000);
  }

  // What is in the store belongs to a recording, or to an upload that still waits for its file.
  await until("nothing is left over", async () => {
    const uploads = objectsOf("uploads").filter((id) => !unsure.has(id));
    const recordings = new Set(
      (await Promise.all([...acknowledged.keys(), ...unsure].map(async (id) => get(id, token)))).map(
        (upload) => upload.recording_id,
      ),
    );
    return uploads.length === 0 && objectsOf("recordings").every((id) => recordings.has(id));
  });
  assert.equal(await server.stop(), 0);
});

/** Ids with objects below a prefix of the local store. */
function objectsOf(prefix: string): string[] {
  const folder = join(server.env.PARLEY_DATA_DIR ?? "", "objects", prefix);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((id) => readdirSync(join(folder, id)).length > 0);
}

async function get(id: string, token: string) {
  const { body } = await call(server, "POST", `/uploads/${id}`, {}, { token });
  return body;
}
