import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call } from "../../test/support/app.ts";
import { parley, prepareServer } from "../../test/support/server-process.ts";
import { demoMeetings } from "./meetings/index.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
// Not running at first: the demo does all of the work itself.
const server = await prepareServer();
after(() => server.dispose());

/** Runs the demo and ends it the hard way once so many of its meetings are in. */
async function runAndKill(meetings: number): Promise<void> {
  const child = spawn(process.execPath, [main, "demo", "--minutes", "0.5"], {
    env: { ...process.env, ...server.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if ((said.match(/^ *\d+ of \d+ /gm)?.length ?? 0) >= meetings) child.kill("SIGKILL");
  });
  const [code, signal] = await ended;
  assert.equal(signal, "SIGKILL", `ended by itself with ${code}: ${said}`);
}

test("killed, and run again twice at once: every meeting is there once, to be watched, with highlights and a story", async () => {
  await runAndKill(2);
  const run = async () => JSON.parse(await parley(server, "demo", "--minutes", "0.5", "--json"));
  const [one, other] = await Promise.all([run(), run()]);
  assert.notEqual(one.created, other.created, "of two at once, one does the work");
  assert.deepEqual(await run(), { ...one, created: false });
  assert.equal(other.id, one.id);

  await server.start();
  const email = "marit.aalvik@wrackline.example";
  const token = await parley(server, "token", "create", "--email", email, "--workspace");
  const { body } = await call(
    server,
    "POST",
    "/recordings",
    { include: { participants: true, ai_summary: true, ai_action_items: true } },
    { token },
  );
  const recordings: { id: string; title: string; ai_summary: unknown }[] = body.recordings;
  assert.deepEqual(
    recordings.map(({ title }) => title).sort(),
    demoMeetings.map(({ title }) => title).sort(),
  );
  for (const { id, title } of recordings) {
    const { media } = demoMeetings.find((meeting) => meeting.title === title) ?? {};
    const links = await call(server, "GET", `/_/api/v1/recordings/${id}/media`, undefined, {
      token,
      version: null,
    });
    assert.equal(links.body.media?.content_type ?? null, contentTypes[media ?? "none"], title);
    assert.equal(links.body.thumbnail_url !== null, media === "video", title);
    assert.equal(links.body.storyboard !== null, media === "video", title);
    assert.equal(links.body.waveform_url !== null, media !== undefined, title);
  }
  assert.ok(recordings.filter(({ ai_summary }) => ai_summary !== null).length >= 3);

  const stories = await call(server, "GET", "/_/api/v1/stories", undefined, { token, version: null });
  assert.ok(stories.body.stories.length > 0);
  assert.ok(stories.body.stories[0].highlights.length > 0);
  const highlights = await call(server, "GET", "/_/api/v1/highlights", undefined, { token, version: null });
  const texts = highlights.body.highlights.map(({ text }: { text: string }) => text);
  assert.equal(new Set(texts).size, texts.length, "no highlight twice");
});

const contentTypes = { video: "video/mp4", audio: "audio/mpeg", none: null } as const;

test("a length that makes no recording is refused", async () => {
  await assert.rejects(parley(server, "demo", "--minutes", "0.1"), /at least 0\.5/);
});
