import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { makeHighlight, makeRecording, makeUser, sampleTranscript } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { addMedia, reach, startLinks, tokenOf } from "./test/public-links.ts";

const links = await startLinks();
const { app, workspace, stranger, manage, open, setState, linksOf, makePublic } = links;
const { admin, member } = workspace;
const bytes = randomBytes(3_000_000);

/** A response without the parts that differ each time. */
const withoutId = (text: string): string => text.replace(/"request_id":"[^"]*"/, "");

test("a recording has a link exactly while it is public, and the old one never works again", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  assert.deepEqual(await linksOf(recordingId), []);
  const refused = await manage("POST", `/recordings/${recordingId}/links`, member.token, {});
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);

  await setState(recordingId, "public");
  const [link, ...others] = await linksOf(recordingId);
  assert.deepEqual(others, []);
  const { id, url, embed_url, created_datetime, ...rest } = link;
  assert.match(url, /^http:\/\/parley\.test\/s\/[0-9a-f]{64}$/);
  assert.equal(embed_url, url.replace("/s/", "/embed/"));
  assert.ok(id && created_datetime);
  assert.deepEqual(rest, {
    kind: "recording",
    created_by: null,
    expires_datetime: null,
    has_password: false,
    allow_download: false,
    include_summary: false,
    start: null,
    last_opened_datetime: null,
    left_out: 0,
  });
  assert.equal((await open(tokenOf(link))).status, 200);

  await setState(recordingId, "workspace");
  assert.equal((await open(tokenOf(link))).status, 404);
  assert.deepEqual(await linksOf(recordingId), []);
  await setState(recordingId, "public");
  assert.equal((await open(tokenOf(link))).status, 404);
  assert.notEqual((await linksOf(recordingId))[0].url, url);
});

test("a recording that is created as public has its link, regardless of who creates it", async () => {
  const { id } = (
    await manage("POST", "/recordings", member.token, {
      title: "Imported",
      share_state: "public",
      transcript: sampleTranscript,
    })
  ).body;
  const found = await until("the import is a recording", async () => {
    const { body } = await manage("GET", `/imports/${id}`, member.token);
    return body.recording_id ?? undefined;
  });
  assert.equal((await linksOf(found)).length, 1);
});

test("what a link shows: the recording, and no id, no address and no number of anybody", async () => {
  const { recordingId, token } = await makePublic({
    title: "Harbour",
    start_datetime: "2026-03-01T10:00:00Z",
    participants: [
      { name: "Ann", email: "ann@secret.example", speaker_key: "s1" },
      { email: "bo@secret.example", speaker_key: "s2" },
    ],
  });
  const { status, body, text, headers } = await open(token);
  assert.equal(status, 200, text);
  const { name } = (await manage("GET", "/workspace", member.token)).body;
  const address = `http://parley.test/_/api/v1/shared/${token}/items/recording`;
  assert.deepEqual(body, {
    kind: "recording",
    title: "Harbour",
    description: null,
    banner_image_url: null,
    workspace: name,
    start: null,
    expires_datetime: null,
    items: [
      {
        id: "recording",
        title: "Harbour",
        recording_title: null,
        start_datetime: "2026-03-01T10:00:00.000Z",
        duration: 12_000,
        speakers: ["Ann", "bo"],
        summary: null,
        chapters: [],
        state: "transcript_only",
        content_type: null,
        media_url: null,
        thumbnail_url: null,
        waveform_url: null,
        storyboard: null,
        captions_url: `${address}/files/captions.vtt`,
        transcript_url: `${address}/transcript`,
        download_url: null,
      },
    ],
  });
  const spoken = await (await fetch(reach(app, `${address}/transcript`))).text();
  const captions = await (await fetch(reach(app, `${address}/files/captions.vtt`))).text();
  for (const path of ["transcript", "files/captions.vtt"]) {
    const response = await fetch(reach(app, `${address}/${path}`));
    await response.text();
    const etag = response.headers.get("etag") ?? "";
    assert.ok(!etag.includes(recordingId));
    const again = await fetch(response.url, { headers: { "if-none-match": etag } });
    assert.deepEqual([again.status, await again.text()], [304, ""]);
    await app.db.pool.query(
      "update recordings set transcript_version = transcript_version + 1 where id = $1",
      [recordingId],
    );
    const changed = await fetch(response.url, { headers: { "if-none-match": etag } });
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get("etag"), etag);
    await changed.text();
  }
  assert.deepEqual(JSON.parse(spoken).entries[1], {
    speaker: "bo",
    start: 4200,
    end: 9000,
    text: "Yes. The harbour contract first.",
  });
  assert.match(captions, /^WEBVTT\n\n1\n00:00:00\.000 --> 00:00:04\.000\n<v Ann>/);
  for (const shown of [text, spoken, captions]) {
    assert.doesNotMatch(shown, /secret\.example|[0-9a-f]{8}-[0-9a-f]{4}-/);
    assert.ok(!shown.includes(recordingId) && !shown.includes(member.email));
  }
  assert.deepEqual(
    [headers.get("cache-control"), headers.get("x-robots-tag"), headers.get("referrer-policy")],
    ["no-store", "noindex, nofollow", "no-referrer"],
  );
});

test("unknown, forged and revoked links return byte-identical responses", async () => {
  const { linkId, token } = await makePublic();
  const other = await makePublic();
  const forged = token.slice(0, 32) + other.token.slice(32);
  const flipped = token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");
  assert.equal((await manage("DELETE", `/links/${linkId}`, member.token)).status, 200);
  const answers = [];
  for (const wrong of [token, forged, flipped, "x", "f".repeat(64), token.toUpperCase(), "f".repeat(300)])
    answers.push(await open(wrong));
  for (const answer of answers) {
    assert.deepEqual([answer.status, withoutId(answer.text)], [404, withoutId(answers[0]?.text ?? "")]);
    assert.equal(answer.headers.get("cache-control"), "no-store");
  }
  for (const path of ["items/recording/transcript", "items/recording/files/media.mp4"])
    assert.equal((await manage("GET", `/shared/${token}/${path}`, null)).status, 404);
  const unlock = await manage("POST", `/shared/${token}/unlock`, null, { password: "open sesame" });
  assert.equal(unlock.status, 404);
});

test("summary and chapters are shown only by a link of the recording that includes them, also after the trash", async () => {
  const { recordingId, linkId, token } = await makePublic();
  await app.db.pool.query("update recordings set ai_summary = $2, ai_chapters = $3 where id = $1", [
    recordingId,
    "**Seven buoys** are open.",
    JSON.stringify([{ title: "Buoys", start: 1000, quote: "private words" }]),
  ]);
  const shown = async (of = token) => {
    const { body, text } = await open(of);
    assert.doesNotMatch(text, /private words/);
    return [body.items[0].summary, body.items[0].chapters];
  };
  const whole = ["**Seven buoys** are open.", [{ title: "Buoys", start: 1000 }]];
  assert.deepEqual(await shown(), [null, []]);
  const changed = await manage("PATCH", `/links/${linkId}`, member.token, { include_summary: true });
  assert.equal(changed.body.include_summary, true);
  assert.deepEqual(await shown(), whole);
  const plain = await manage("POST", `/recordings/${recordingId}/links`, member.token, {});
  assert.deepEqual(await shown(tokenOf(plain.body)), [null, []]);
  const { rows } = await app.db.pool.query(
    "select details from audit_log where action = 'public_link_changed' and details ->> 'link_id' = $1",
    [linkId],
  );
  assert.equal(rows[0]?.details.include_summary, true);
  const highlight = await makeHighlight(app, member.token, recordingId, { text: "Part" });
  const refused = await manage("POST", `/highlights/${highlight}/links`, member.token, {
    include_summary: true,
  });
  assert.deepEqual([refused.status, refused.body.violations[0].pointer], [400, "/include_summary"]);
  const part = await manage("POST", `/highlights/${highlight}/links`, member.token, {});
  assert.deepEqual(await shown(tokenOf(part.body)), [null, []]);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
  assert.equal((await open(token)).status, 404);
  const restored = await manage("POST", `/trash/${recordingId}/restore`, member.token);
  assert.equal(restored.status, 200, restored.text);
  assert.deepEqual(await shown(), whole);
});

test("media comes from this server in whole and in ranges, is kept by nobody, and is no download", async () => {
  const { recordingId, linkId, token } = await makePublic({ title: "Harbour" });
  await addMedia(app, recordingId, { format: "mp4", bytes, durationMs: 12_000 });
  const [item] = (await open(token)).body.items;
  assert.deepEqual([item.state, item.content_type, item.download_url], ["ready", "video/mp4", null]);
  const whole = await fetch(reach(app, item.media_url));
  assert.equal(whole.status, 200);
  assert.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes));
  assert.deepEqual(
    ["cache-control", "content-type", "access-control-allow-origin", "x-robots-tag"].map((name) =>
      whole.headers.get(name),
    ),
    ["no-store", "video/mp4", null, "noindex, nofollow"],
  );
  assert.doesNotMatch(whole.headers.get("content-disposition") ?? "", /attachment/);
  const part = await fetch(reach(app, item.media_url), { headers: { range: "bytes=10-19" } });
  assert.deepEqual([part.status, part.headers.get("content-range")], [206, `bytes 10-19/${bytes.length}`]);
  assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20)));
  assert.equal((await fetch(reach(app, item.media_url), { method: "HEAD" })).status, 200);
  assert.equal((await fetch(reach(app, item.waveform_url))).status, 200);

  const download = reach(app, item.media_url).replace("media.mp4", "download");
  assert.equal((await fetch(download)).status, 404);
  const changed = await manage("PATCH", `/links/${linkId}`, member.token, { allow_download: true });
  assert.equal(changed.body.allow_download, true);
  const offered = (await open(token)).body.items[0].download_url;
  const saved = await fetch(reach(app, offered));
  assert.equal(saved.status, 200);
  assert.match(saved.headers.get("content-disposition") ?? "", /^attachment; filename="Harbour\.mp4"/);
  await manage("PATCH", `/links/${linkId}`, member.token, { allow_download: false });
  assert.equal((await fetch(download)).status, 404);
  // Nothing else that lies below the recording's id is handed out.
  for (const name of ["media.mp3", "..%2fmedia.mp4", "speech.wav", "clips%2fx%2fmedia.mp4"])
    assert.equal((await fetch(reach(app, item.media_url).replace("media.mp4", name))).status, 404, name);
});

test("revoking a link soon cuts off what is being played", async () => {
  const large = randomBytes(64 * 1024 * 1024);
  const { recordingId, linkId, token } = await makePublic();
  await addMedia(app, recordingId, { format: "mp4", bytes: large, durationMs: 12_000 });
  const [item] = (await open(token)).body.items;
  const response = await fetch(reach(app, item.media_url));
  const reader = response.body?.getReader();
  await reader?.read();
  assert.equal((await manage("DELETE", `/links/${linkId}`, member.token)).status, 200);
  const revokedAt = performance.now();
  assert.equal((await fetch(reach(app, item.media_url))).status, 404);
  let received = 0;
  // Slowly, as a player does that has enough for now.
  const outcome = await until(
    "the response is cut off",
    async () => {
      try {
        const piece = await reader?.read();
        received += piece?.value?.length ?? 0;
        return piece?.done ? "whole" : undefined;
      } catch {
        return "cut";
      }
    },
    30_000,
  );
  assert.equal(outcome, "cut");
  // Sooner than by the check of everything the link depends on, every five seconds.
  assert.ok(performance.now() - revokedAt < 4000, `${performance.now() - revokedAt} ms`);
  assert.ok(received < large.length, `${received} of ${large.length}`);
});

test("expiry: must be in the future; an expired link says so and shows nothing", async () => {
  const { recordingId, token } = await makePublic();
  const past = await manage("POST", `/recordings/${recordingId}/links`, member.token, {
    expires_datetime: "2020-01-01T00:00:00Z",
  });
  assert.deepEqual([past.status, past.body.violations[0].pointer], [400, "/expires_datetime"]);
  const { body } = await manage("POST", `/recordings/${recordingId}/links`, member.token, {
    expires_datetime: new Date(Date.now() + 3_600_000).toISOString(),
    start: 5000,
  });
  assert.deepEqual(body.created_by, { id: member.id, name: member.name, email: member.email });
  const shown = (await open(tokenOf(body))).body;
  assert.deepEqual([shown.expires_datetime, shown.start], [body.expires_datetime, 5000]);
  await app.db.pool.query("update public_links set expires_at = now() - interval '1 second' where id = $1", [
    body.id,
  ]);
  const expired = await open(tokenOf(body));
  assert.deepEqual([expired.status, expired.body.error], [403, "link_expired"]);
  for (const path of ["items/recording/transcript", "items/recording/files/captions.vtt"])
    assert.equal((await manage("GET", `/shared/${tokenOf(body)}/${path}`, null)).status, 403);
  assert.equal((await open(token)).status, 200);
  const again = await manage("PATCH", `/links/${body.id}`, member.token, { expires_datetime: null });
  assert.equal(again.body.expires_datetime, null);
  assert.equal((await open(tokenOf(body))).status, 200);
  const late = await manage("PATCH", `/links/${body.id}`, member.token, { start: 12_000 });
  assert.deepEqual([late.status, late.body.violations[0].pointer], [400, "/start"]);
});

test("rights: who may change the sharing, and nobody of another workspace", async () => {
  const { recordingId, linkId } = await makePublic();
  const colleague = await makeUser(app.db, workspace);
  const cases: [string, string, number][] = [
    ["the recorder", member.token, 200],
    ["an admin", admin.token, 200],
    ["a workspace token", workspace.token, 200],
    ["a colleague who sees it", colleague.token, 403],
    ["another workspace", stranger.admin.token, 404],
  ];
  for (const [who, token, expected] of cases) {
    const found = [
      (await manage("GET", `/recordings/${recordingId}/links`, token)).status,
      (await manage("POST", `/recordings/${recordingId}/links`, token, {})).status,
      (await manage("PATCH", `/links/${linkId}`, token, { allow_download: true })).status,
    ];
    assert.deepEqual(found, [expected, expected, expected], who);
    if (expected !== 200)
      assert.equal((await manage("DELETE", `/links/${linkId}`, token)).status, expected, who);
  }
  await setState(recordingId, "restricted");
  assert.equal((await manage("GET", `/recordings/${recordingId}/links`, colleague.token)).status, 404);
  assert.equal((await manage("DELETE", `/links/${linkId}`, member.token)).status, 404);
});

test("the hour of the last opening is noted, the audit log tells of changes, and deleting ends all", async () => {
  const { recordingId, linkId, token } = await makePublic();
  await open(token);
  const [{ last_opened_datetime: opened }] = await linksOf(recordingId);
  assert.match(opened, /:00:00\.000Z$/);
  await manage("PATCH", `/links/${linkId}`, member.token, { password: "secret word" });
  const second = (await manage("POST", `/recordings/${recordingId}/links`, member.token, {})).body;
  await manage("DELETE", `/links/${second.id}`, member.token);
  const { rows } = await app.db.pool.query(
    "select action, user_id, details->>'link_id' as link, details from audit_log where subject_id = $1 and action like 'public%' order by id",
    [recordingId],
  );
  assert.deepEqual(
    rows.map(({ action, user_id, link }) => [action, user_id, link]),
    [
      ["public_link_changed", member.id, linkId],
      ["public_link_created", member.id, second.id],
      ["public_link_revoked", member.id, second.id],
    ],
  );
  assert.doesNotMatch(JSON.stringify(rows), /secret word|argon2/);
  assert.equal((await manage("DELETE", `/recordings/${recordingId}`, member.token)).status, 200);
  assert.equal((await open(token)).status, 404);
  const left = await call(app, "GET", `/_/api/v1/links/${linkId}`, undefined, { token: member.token });
  assert.equal(left.status, 404);
});
