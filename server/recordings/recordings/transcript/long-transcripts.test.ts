import assert from "node:assert/strict";
import { test } from "node:test";
import { because } from "../../../../contract/causes/causes.ts";
import { type Answer, call } from "../../../../test/support/app.ts";
import { makeRecording } from "../../../../test/support/factories.ts";
import { startLinks } from "../../../sharing/public-links/test/public-links.ts";
import { findExcerpt } from "../../../sharing/public-links/view/transcript-excerpt.ts";

// Runs alone: it measures how long the event loop is blocked.

const { app, workspace, manage, open, makePublic } = await startLinks();
const { token } = workspace.member;
const management = "/_/api/v1";

const spaces = `a${" ".repeat(400_000)}b`;
const tooLong = "x".repeat(10_001);
const longest = "x".repeat(10_000);
/** Of one segment: with it a transcript has more than 5,000,000 characters. */
const hundreds = Array.from({ length: 501 }, (_, index) => ({ start: index * 10, text: longest }));

const transcriptOf = (segments: readonly { text: string; start?: number }[]) => ({
  language: "en",
  segments: segments.map(({ text, start = 0 }) => ({ speaker_key: "s", start, end: start + 10, text })),
});

type Segments = readonly { text: string; start?: number }[];
// biome-ignore lint/suspicious/noExplicitAny: responses of four operations.
type Sent = Promise<Answer<any>>;
/** Every way in which a transcript comes in over HTTP. @returns the response, and the path of the segments in the body. */
const waysIn: Readonly<Record<string, { readonly at: string; readonly send: (segments: Segments) => Sent }>> =
  {
    "Create Upload": {
      at: "/attributes/transcript/segments",
      send: (segments) =>
        call(
          app,
          "POST",
          "/uploads/create",
          {
            media_type: "transcript",
            auto_promote: false,
            attributes: { transcript: transcriptOf(segments) },
          },
          { token },
        ),
    },
    "Update Upload": {
      at: "/attributes/transcript/segments",
      send: async (segments) => {
        const attributes = { transcript: transcriptOf([{ text: "Hello." }]) };
        const body = { media_type: "transcript", auto_promote: false, attributes };
        const created = await call(app, "POST", "/uploads/create", body, { token });
        const changes = { attributes: { transcript: transcriptOf(segments) } };
        return call(app, "PATCH", `/uploads/${created.body.id}`, changes, { token });
      },
    },
    "Import Recording": {
      at: "/transcript/segments",
      send: (segments) => manage("POST", "/recordings", token, { transcript: transcriptOf(segments) }),
    },
    "Supply Transcript": {
      at: "/segments",
      send: async (segments) => {
        const { recordingId } = await makeRecording(app, token);
        const view = await manage("GET", `/recordings/${recordingId}/transcript`, token);
        return manage("PUT", `/recordings/${recordingId}/transcript`, token, {
          transcript_version: view.body.transcript_version,
          segments: segments.map(({ text, start = 0 }) => ({ speaker: "S", start, end: start + 10, text })),
        });
      },
    },
  };

for (const [name, { at, send }] of Object.entries(waysIn)) {
  test(`${name} takes 10,000 characters in a segment, whitespace counted once, and no more`, async () => {
    const taken = await send([{ text: longest }, { text: spaces }]);
    assert.equal(taken.status, 200, taken.text.slice(0, 500));
    const refused = await send([{ text: "Hello." }, { text: tooLong }]);
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.body.violations, [
      { pointer: `${at}/1/text`, ...because("too_many_characters", { max: 10_000 }) },
    ]);
  });

  test(`${name} takes 5,000,000 characters in all segments together and no more`, async () => {
    const taken = await send(hundreds.slice(1));
    assert.equal(taken.status, 200, taken.text.slice(0, 500));
    const refused = await send(hundreds);
    assert.equal(refused.status, 400);
    assert.equal(refused.body.violations[0].pointer, at);
    assert.match(refused.body.violations[0].detail, /at most 5000000 characters of text in all segments/);
  });
}

test("Correct Text takes 10,000 characters in a segment and 5,000,000 in a transcript and no more", async () => {
  const { recordingId } = await makeRecording(app, token, { transcript: transcriptOf(hundreds.slice(1)) });
  const correct = async (segments: readonly { index: number; text: string }[]) => {
    const path = `/recordings/${recordingId}/transcript`;
    const { transcript_version } = (await manage("GET", path, token)).body;
    return manage("POST", `${path}/corrections`, token, { transcript_version, segments });
  };
  const long = await correct([{ index: 0, text: tooLong }]);
  assert.equal(long.body.violations[0].detail, "must have at most 10000 characters");
  assert.equal((await correct([{ index: 0, text: "Short." }])).status, 200);
  assert.equal((await correct([{ index: 0, text: longest }])).status, 200);
  await app.db.pool.query(
    "update transcript_segments set text = 'short' where recording_id = $1 and position = 3",
    [recordingId],
  );
  await app.db.pool.query(
    "update transcript_segments set text = $2 where recording_id = $1 and position = 4",
    [recordingId, "y".repeat(20_000)],
  );
  const whole = await correct([{ index: 3, text: longest }]);
  assert.equal(whole.status, 400);
  assert.match(whole.body.violations[0].detail, /at most 5000000 characters/);
  // What makes it shorter is never refused.
  assert.equal((await correct([{ index: 4, text: "Shorter." }])).status, 200);
});

test("a text with more whitespace than it may have characters is stored with one space in each place, others as they are", async () => {
  const plain = "One  two\n three";
  const { recordingId } = await makeRecording(app, token, {
    transcript: transcriptOf([{ text: spaces }, { text: plain }]),
  });
  const { body } = await call(app, "GET", `/recordings/${recordingId}/transcript`, undefined, { token });
  assert.deepEqual(
    body.map(({ text }: { text: string }) => text),
    ["a b", plain],
  );
});

/** Puts a text in a stored segment that no input could bring any more, as rows from before the limit have it. */
async function storeLong(recordingId: string, text: string): Promise<void> {
  await app.db.pool.query(
    "update transcript_segments set text = $2, start_ms = 0, end_ms = 3600000 where recording_id = $1 and position = 0",
    [recordingId, text],
  );
  await app.db.pool.query(
    "update recordings set transcript_version = transcript_version + 1, duration_ms = 3600000 where id = $1",
    [recordingId],
  );
}

const words = "seven words that people say in meetings ";
for (const [name, text] of [
  ["400,000 spaces", spaces],
  ["3 MB of words", words.repeat(75_000)],
  ["3 MB of letters", "x".repeat(3_000_000)],
] as const) {
  test(`a stored segment with ${name} is read in every form in linear time`, async () => {
    const recording = await makePublic();
    const { recordingId } = recording;
    await storeLong(recordingId, text);
    const own = { authorization: `Bearer ${token}`, "public-api-version": "2026-10-01" };
    const get = async (path: string, headers = {}): Promise<string> => {
      const response = await fetch(app.url + path, { headers });
      const body = await response.text();
      assert.equal(response.status, 200, `${path} ${body.slice(0, 300)}`);
      return body;
    };
    const base = `/_/public-api/v2/recordings/${recordingId}/transcript`;
    const items = (await open(recording.token)).body.items;
    const took: Record<string, number> = {};
    const read = async (path: string, headers = {}): Promise<string> => {
      const start = process.cpuUsage();
      const body = await get(path, headers);
      const { user, system } = process.cpuUsage(start);
      took[path.replaceAll(/[\w-]{30,}/g, "…")] = (user + system) / 1000;
      return body;
    };
    const vtt = await read(`${base}.vtt`, own);
    assert.ok(vtt.startsWith("WEBVTT\n\n1\n00:00:00.000 --> 01:00:00.000\n<v "));
    await read(`${base}.txt`, own);
    await read(`${base}.srt`, own);
    const [first] = JSON.parse(await read(base, own));
    assert.equal(first.text, text);
    await read(`${management}/shared/${recording.token}/items/${items[0].id}/files/captions.vtt`);
    await read(`${management}/shared/${recording.token}/items/${items[0].id}/transcript`);
    const before = process.cpuUsage();
    const range = { start: 1_800_000, end: 1_805_000 };
    const spoken = await findExcerpt(app.db.pool, { recordingId, range });
    const { user, system } = process.cpuUsage(before);
    took["what is spoken in a highlight"] = (user + system) / 1000;
    assert.ok(JSON.stringify(spoken).length < 20_000, "no more than what lies in the highlight");
    await read(`${management}/search?q=meetings`, own);
    for (const [path, ms] of Object.entries(took)) assert.ok(ms < 3000, `${path} took ${ms} ms`);
  });
}
