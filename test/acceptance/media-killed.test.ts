import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { call, olderVersion } from "../support/call.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const server = await prepareServer({ env: { PARLEY_SWEEP_INTERVAL: "500ms" } });
after(() => server.dispose());

/** How often the server is killed during media uploads; set with KILLS. */
const kills = Number(process.env.KILLS ?? 3);

/** The statuses in which uploads are hit: receiving the file, validating it, promoting it. */
const targets = ["awaiting", "processing", "promoting"] as const;

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

test(`killed ${kills} times during media uploads, every acknowledged file is processed in the end`, async () => {
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

  /** Uploads whose file was acknowledged, with their fixture. */
  const acknowledged = new Map<string, string>();
  /** Uploads whose file may or may not have arrived. */
  const unsure = new Set<string>();
  /** Uploads whose file the server had received in part when it was killed. */
  const cutOff = new Map<string, string>();

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

  /** Sends half of a file and keeps the connection open. @returns the upload's id once the server is receiving. */
  async function sendHalf(name: string, kind: string): Promise<string> {
    const { id, media } = (await call(server, "POST", "/uploads/create", { media_type: kind }, { token }))
      .body;
    unsure.add(id);
    const file = Buffer.from(fixture(name));
    const put = httpRequest(media.upload.url.replace("localhost", "127.0.0.1"), {
      method: "PUT",
      headers: { ...media.upload.headers, expect: "100-continue", "content-length": file.length },
    });
    // Ends when the server is killed.
    put.on("error", () => {});
    put.flushHeaders();
    await once(put, "continue");
    put.write(file.subarray(0, file.length / 2));
    cutOff.set(id, name);
    return id;
  }

  const database = new pg.Client(server.env.PARLEY_DATABASE_URL);
  await database.connect();
  after(() => database.end());

  /**
   * Waits until one of the uploads that are being sent or worked on is in this status, or all have passed it.
   * @returns its id; any other's when it was missed.
   */
  function seen(status: string, before: ReadonlySet<string>): Promise<string> {
    return until(`an upload is ${status}`, async () => {
      const ids = [...acknowledged.keys(), ...unsure].filter((id) => !before.has(id));
      const { rows } = await database.query<{ id: string; status: string }>(
        "select id, status from uploads where id = any($1::uuid[])",
        [ids],
      );
      const found = rows.find((row) => row.status === status);
      const areOver = ids.length === files.length && rows.every((row) => isOver(row.status));
      return found?.id ?? (areOver ? ids[0] : undefined);
    });
  }

  /** Statuses of uploads at each kill, as found after the restart. */
  const killedIn: string[] = [];
  for (let round = 0; round < kills || (round < 5 * kills && !targets.every(wasKilledIn)); round++) {
    await server.start();
    const target = targets[round % targets.length] ?? "awaiting";
    const before = new Set([...acknowledged.keys(), ...unsure]);
    const sending = Promise.all(
      files.map(([name, kind]) =>
        send(name, kind).catch((error: unknown) => {
          // The kill may interrupt any request, but a response must be right.
          if (!isCutOff(error)) throw error;
        }),
      ),
    );
    const hit = target === "awaiting" ? await sendHalf("good-cbr.mp3", "audio") : await seen(target, before);
    await server.kill();
    await sending;
    const { rows } = await database.query("select status from uploads where id = $1", [hit]);
    killedIn.push(rows[0].status);
  }
  function wasKilledIn(status: string): boolean {
    return killedIn.includes(status);
  }
  for (const status of targets)
    assert.ok(wasKilledIn(status), `killed while ${status}: ${killedIn.join(", ")}`);
  // At least those killed while promoting.
  assert.ok(acknowledged.size >= kills / targets.length, `${acknowledged.size} files were acknowledged`);

  // Interrupted files can be sent again to the same URL.
  await server.start();
  for (const [id, name] of cutOff) {
    const { status, media } = await get(id, token);
    assert.equal(status, "awaiting");
    const { url, headers } = media.upload;
    const put = { method: "PUT", headers, body: fixture(name) };
    const answer = await fetch(url.replace("localhost", "127.0.0.1"), put);
    assert.equal(answer.status, 200);
    unsure.delete(id);
    acknowledged.set(id, name);
  }
  await until(
    "every acknowledged file is processed",
    async () => {
      const statuses = await Promise.all(
        [...acknowledged.keys()].map(async (id) => (await get(id, token)).status),
      );
      return statuses.every(isOver);
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

  // Every object in the store belongs to a recording or to an upload in status awaiting.
  await until("no orphaned objects are left", async () => {
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

function isOver(status: string): boolean {
  return status === "success" || status === "failure";
}

/** Whether a request failed because its server was killed, which fetch reports as a TypeError. */
function isCutOff(error: unknown): boolean {
  const { code } = ((error as Error).cause ?? {}) as { code?: string };
  return error instanceof TypeError && /^(ECONN|EPIPE|UND_ERR_SOCKET)/.test(code ?? "");
}

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
