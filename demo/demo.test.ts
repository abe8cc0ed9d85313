import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call } from "../test/support/call.ts";
import { parley, prepareServer } from "../test/support/server-process.ts";
import { demoMeetings } from "./content/meetings/index.ts";

const main = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
// Not started yet: the demo command runs all jobs itself.
const server = await prepareServer();
after(() => server.dispose());

/** Starts the demo command and kills it once it has imported so many meetings. */
async function runAndKill(meetings: number): Promise<void> {
  const child = spawn(process.execPath, [main, "demo", "--minutes", "0.5"], {
    env: { ...process.env, ...server.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if ((output.match(/^ *\d+ of \d+ /gm)?.length ?? 0) >= meetings) child.kill("SIGKILL");
  });
  const [code, signal] = await ended;
  assert.equal(signal, "SIGKILL", `exited with ${code} before it was killed: ${output}`);
}

test("killed, then run twice at once: every meeting is imported once, with media, highlights and a story", async () => {
  await runAndKill(2);
  const run = async () => JSON.parse(await parley(server, "demo", "--minutes", "0.5", "--json"));
  const [one, other] = await Promise.all([run(), run()]);
  assert.notEqual(one.created, other.created, "of two concurrent runs, one imports the rest");
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
  const recordings: {
    id: string;
    title: string;
    ai_summary: unknown;
    meeting_type: { name: string };
  }[] = body.recordings;
  assert.ok(new Set(recordings.map(({ meeting_type }) => meeting_type.name)).size >= 9);
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
  assert.equal(new Set(texts).size, texts.length, "no duplicate highlights");
});

const contentTypes = { video: "video/mp4", audio: "audio/mpeg", none: null } as const;

test("demo refuses a --minutes value below the shortest recording", async () => {
  await assert.rejects(parley(server, "demo", "--minutes", "0.1"), /at least 0\.5/);
});
