import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { call } from "../support/call.ts";
import { parley, prepareServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const server = await prepareServer();
after(() => server.dispose());

/** How often the server is killed while promoting; set with KILLS. */
const kills = Number(process.env.KILLS ?? 2);
const uploadsPerKill = 10;

const segments = Array.from({ length: 200 }, (_, index) => ({
  speaker_key: `s${index % 5}`,
  start: index * 2000,
  end: index * 2000 + 1900,
  text: `Segment ${index} of a meeting that is long enough to be interrupted while it is written.`,
}));

test(`killed ${kills} times while promoting, every acknowledged upload becomes exactly one recording`, async () => {
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
  const titles: string[] = [];
  for (let round = 0; round < kills; round++) {
    await server.start();
    await Promise.all(
      Array.from({ length: uploadsPerKill }, async (_, index) => {
        const title = `Round ${round} upload ${index}`;
        const body = {
          media_type: "transcript",
          attributes: { title, transcript: { language: "en", segments } },
        };
        // The kill may interrupt requests; only acknowledged uploads must become recordings.
        const answer = await call(server, "POST", "/uploads/create", body, { token }).catch(() => null);
        if (answer?.status === 200) titles.push(title);
      }),
    );
    // A different moment in each round, from right after the responses to well into promotion.
    await delay(round * 7);
    await server.kill();
  }
  assert.ok(titles.length >= kills);
  await server.start();
  const promoted = await until(
    "every acknowledged upload is a recording",
    async () => {
      const found = await listTitles(token);
      return titles.every((title) => found.includes(title)) ? found : undefined;
    },
    60_000,
  );
  // Exactly once, and with the whole transcript.
  assert.equal(new Set(promoted).size, promoted.length);
  const uploads = await listAll(token, "/uploads", "uploads");
  for (const upload of uploads) assert.equal(upload.status, "success");
  const recordings = await listAll(token, "/recordings", "recordings");
  assert.equal(recordings.length, uploads.length);
  for (const recording of recordings.slice(0, 10)) {
    const transcript = await call(server, "GET", `/recordings/${recording.id}/transcript`, undefined, {
      token,
    });
    assert.equal(transcript.body.length, segments.length);
  }
  assert.equal(await server.stop(), 0);
});

async function listTitles(token: string): Promise<unknown[]> {
  return (await listAll(token, "/recordings", "recordings")).map((recording) => recording.title);
}

async function listAll(token: string, path: string, name: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  let cursor: string | null = null;
  do {
    const page: { body: Record<string, unknown> } = await call(
      server,
      "POST",
      path,
      cursor ? { cursor } : {},
      { token },
    );
    all.push(...(page.body[name] as Record<string, unknown>[]));
    cursor = page.body.cursor as string | null;
  } while (cursor !== null);
  return all;
}
