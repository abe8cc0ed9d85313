import assert from "node:assert/strict";
import { test } from "node:test";
import { call, currentVersion, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace, sampleTranscript } from "../../../../test/support/factories.ts";
import { dataTools } from "../test/recordings.ts";

const app = await startTestApp();
const { member } = await makeWorkspace(app.db);
const { manage, read } = dataTools(app);
const { recordingId } = await makeRecording(app, member.token);

const addTag = (tag: unknown, version?: string) =>
  call(
    app,
    "PUT",
    `/recordings/${recordingId}/tags`,
    { tag },
    { token: member.token, version: version ?? currentVersion },
  );

/** Hindi, Thai, Vietnamese (decomposed), Arabic and Tamil with vowel marks, digits of several scripts. */
const valid = [
  "हिन्दी",
  "कि-२",
  "ประชุม",
  "Vie\u0323\u0302t",
  "مُدَرِّس",
  "தமிழ்",
  "７-１",
  "𝟙",
  "٣",
  "x--",
  "a1b2",
];
const invalid = [
  "½",
  "a½",
  "²",
  "m²",
  "Ⅷ",
  "①",
  "一〇〡",
  "1\u0301",
  "a-\u0301",
  "\u0301a",
  "a\u20dd",
  "1\ufe0f\u20e3",
  "a\ufe0f",
  "\u3164",
  "a\u200db",
  "a\u200cb",
  "a–b",
  "a\u00adb",
  "a".repeat(201),
];

test("Add Tag accepts letters with their combining marks and decimal digits of any script, and nothing else", async () => {
  for (const version of everyVersion) {
    for (const tag of valid) assert.equal((await addTag(tag, version)).status, 200, tag);
    for (const tag of invalid) {
      const { status, body } = await addTag(tag, version);
      assert.equal(status, 400, tag);
      assert.deepEqual(
        body.violations.map((one: { pointer: string }) => one.pointer),
        ["/tag"],
        tag,
      );
    }
  }
  const { body } = await read(recordingId, member.token);
  assert.deepEqual(
    body.tags,
    valid.map((tag) => tag.normalize("NFC")),
  );
});

test("tags of highlights, stories, imports and edited recordings follow the same rule", async () => {
  const highlight = (tags: string[]) =>
    manage("POST", `/recordings/${recordingId}/highlights`, member.token, {
      text: "h",
      timestamp: 0,
      duration: 1000,
      tags,
    });
  const requests = [
    highlight,
    (tags: string[]) => manage("POST", "/stories", member.token, { title: "s", tags }),
    (tags: string[]) =>
      manage("POST", "/recordings", member.token, { title: "i", tags, transcript: sampleTranscript }),
    (tags: string[]) => manage("PATCH", `/recordings/${recordingId}`, member.token, { tags }),
  ];
  for (const request of requests) {
    const accepted = await request(valid);
    assert.ok(accepted.status < 300, accepted.text);
    for (const tag of invalid) {
      const refused = await request(["good", tag]);
      assert.equal(refused.status, 400, tag);
      assert.equal(refused.body.violations[0].pointer, "/tags/1", tag);
    }
  }
});

test("a tag stored under the earlier rule is found by filters and can be removed", async () => {
  await app.db.pool.query("update recordings set tags = '{½-price,q3}' where id = $1", [recordingId]);
  await app.db.pool.query("update highlights set tags = '{½-price}' where recording_id = $1", [recordingId]);
  const found = await manage("GET", `/search?q=good&tag=${encodeURIComponent("½-price")}`, member.token);
  assert.equal(found.status, 200, found.text);
  const highlights = await manage("GET", `/highlights?tag=${encodeURIComponent("½-price")}`, member.token);
  assert.equal(highlights.body.highlights.length, 1, highlights.text);

  const path = `/recordings/${recordingId}/tags/${encodeURIComponent("½-price")}`;
  assert.equal((await call(app, "DELETE", path, undefined, { token: member.token })).status, 200);
  assert.deepEqual((await read(recordingId, member.token)).body.tags, ["q3"]);
});

test("the tag filter of highlights finds a decomposed spelling of a stored tag", async () => {
  await app.db.pool.query("update highlights set tags = '{größe}' where recording_id = $1", [recordingId]);
  const tag = encodeURIComponent("gro\u0308ße");
  const { body } = await manage("GET", `/highlights?tag=${tag}`, member.token);
  assert.equal(body.highlights.length, 1);
});

test("a long tag of valid characters is refused without delay", async () => {
  const startedAt = performance.now();
  for (const letter of ["a", "a\u0301", "1", "-"]) {
    const { status } = await addTag(letter.repeat(200_000));
    assert.equal(status, 400);
  }
  assert.ok(performance.now() - startedAt < 10_000);
});
