import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeRecording, makeUser } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { removeOrphans } from "../../operations/storage-maintenance/orphans.ts";
import { inFolder, inspect } from "../../processing/media/render/test/support.ts";
import { clipPrefix } from "../../recordings/public-link-records/clips.ts";
import { addMedia, fixture, reach, settled, startLinks, tokenOf } from "./test/public-links.ts";

const links = await startLinks({
  env: { PARLEY_SWEEP_INTERVAL: "300ms" },
  recurring: ["reconcile_clips"],
});
const { app, workspace, stranger, manage, open } = links;
const { member } = workspace;
const film = fixture("good-faststart.mp4");
/** Sees what is shared with the workspace and may share none of it. */
const colleague = await makeUser(app.db, workspace);

/** A recording of the member that the workspace sees, with a film of 12 s. */
async function makeFilm(title = "Harbour"): Promise<string> {
  const { recordingId } = await makeRecording(app, member.token, { title });
  await links.setState(recordingId, "workspace");
  await addMedia(app, recordingId, { format: "mp4", bytes: film, durationMs: 12_000 });
  return recordingId;
}

async function makeHighlight(recordingId: string, token: string, timestamp = 4000, duration = 2500) {
  const path = `/recordings/${recordingId}/highlights`;
  const { status, body, text } = await manage("POST", path, token, { text: "Look", timestamp, duration });
  assert.equal(status, 200, text);
  return body.id as string;
}

async function makeLink(highlightId: string, token = member.token, body: object = {}) {
  const answer = await manage("POST", `/highlights/${highlightId}/links`, token, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function clipRows(highlightId: string) {
  const { rows } = await app.db.pool.query(
    "select id, recording_id, start_ms, end_ms, state, error from clips where highlight_id = $1 order by start_ms",
    [highlightId],
  );
  return rows;
}

async function keysBelow(prefix: string): Promise<string[]> {
  const keys = [];
  for await (const { key } of app.store.list(prefix)) keys.push(key.slice(prefix.length));
  return keys;
}

test("a highlight's link plays a file of that part alone, whatever the recording's share_state", async () => {
  const recordingId = await makeFilm();
  const highlightId = await makeHighlight(recordingId, member.token);
  const link = await makeLink(highlightId);
  assert.deepEqual([link.kind, link.left_out, link.has_password], ["highlight", 0, false]);
  const token = tokenOf(link);
  const view = await settled(links, token);
  assert.deepEqual([view.kind, view.title, view.items.length], ["highlight", "Look", 1]);
  const [item] = view.items;
  assert.deepEqual(
    [item.title, item.recording_title, item.duration, item.state, item.content_type],
    ["Look", null, 2500, "ready", "video/mp4"],
  );
  assert.doesNotMatch(JSON.stringify(view), /Harbour/);
  const answer = await fetch(reach(app, item.media_url));
  const bytes = Buffer.from(await answer.arrayBuffer());
  assert.equal(answer.status, 200);
  await inFolder(async (folder) => {
    const path = join(folder, "clip.mp4");
    writeFileSync(path, bytes);
    assert.ok(Math.abs((await inspect(path)).durationSec - 2.5) < 0.08);
  });
  for (const url of [item.thumbnail_url, item.waveform_url, item.storyboard.index_url])
    assert.equal((await fetch(reach(app, url))).status, 200, url);
  const [sheet] = item.storyboard.sheets;
  assert.equal((await fetch(reach(app, sheet.url))).headers.get("content-type"), "image/jpeg");
  const waveform = JSON.parse(await (await fetch(reach(app, item.waveform_url))).text());
  assert.deepEqual([waveform.duration_ms, waveform.peaks.length > 0], [2500, true]);

  // Nothing of the recording, and nothing by which it could be found.
  const whole = reach(app, item.media_url).replace(`items/${item.id}`, "items/recording");
  assert.equal((await fetch(whole)).status, 404);
  const text = JSON.stringify(view);
  assert.doesNotMatch(text, /[0-9a-f]{8}-[0-9a-f]{4}-/);
  assert.ok(!text.includes(member.email) && !text.includes(highlightId.replaceAll("-", "")));
});

test("the transcript of a highlight's link: only what is said in it, from its start", async () => {
  const recordingId = await makeFilm();
  // The sample transcript: 0–4000, 4200–9000 "Yes. The harbour contract first.", 9100–12000.
  const highlightId = await makeHighlight(recordingId, member.token, 3500, 3000);
  const { items } = (await open(tokenOf(await makeLink(highlightId)))).body;
  const { entries } = JSON.parse(await (await fetch(reach(app, items[0].transcript_url))).text());
  assert.deepEqual(
    entries.map(({ start, end, text }: { start: number; end: number; text: string }) => [start, end, text]),
    [
      [0, 500, "begin?"],
      [700, 3000, "Yes. The harbour"],
    ],
  );
  const captions = await (await fetch(reach(app, items[0].captions_url))).text();
  assert.doesNotMatch(captions, /Good morning|contract|signed/);
  assert.match(captions, /00:00:00\.700 --> 00:00:03\.000/);
});

test("who speaks right before a highlight, without a word in it, is not named", async () => {
  const recordingId = await makeFilm();
  // One speaks until 4000, the other from 4200 on.
  const highlightId = await makeHighlight(recordingId, member.token, 3990, 3000);
  const [item] = (await open(tokenOf(await makeLink(highlightId)))).body.items;
  assert.deepEqual(item.speakers, ["Unknown Speaker 2"]);
});

test("a user who only sees a recording publishes no part of it, and a link keeps its approved range when they change it", async () => {
  const recordingId = await makeFilm();
  const theirs = await makeHighlight(recordingId, colleague.token);
  const refused = await manage("POST", `/highlights/${theirs}/links`, colleague.token, {});
  assert.deepEqual([refused.status, refused.body.error], [403, "forbidden"]);
  assert.match(refused.body.detail, /workspace tokens may share a highlight/);
  assert.equal((await manage("GET", `/highlights/${theirs}/links`, colleague.token)).status, 403);
  assert.equal((await manage("POST", `/highlights/${theirs}/links`, stranger.token, {})).status, 404);

  const link = await makeLink(theirs);
  const token = tokenOf(link);
  const [before] = (await settled(links, token)).items;
  const edit = (by: string, body: object) => manage("PATCH", `/highlights/${theirs}`, by, body);
  assert.equal((await edit(colleague.token, { timestamp: 0, duration: 12_000 })).status, 200);
  const widened = (await open(token)).body.items[0];
  assert.deepEqual([widened.duration, widened.media_url], [2500, before.media_url]);
  const agree = { agree: true };
  assert.equal((await manage("PATCH", `/links/${link.id}`, colleague.token, agree)).status, 403);

  // Also a range within the approved one is shown only when it is approved.
  await edit(colleague.token, { timestamp: 4500, duration: 1000 });
  assert.equal((await open(token)).body.items[0].duration, 2500);
  // The recorder changes the text and has not looked at the range.
  await edit(member.token, { text: "Look here" });
  const renamed = (await open(token)).body.items[0];
  assert.deepEqual([renamed.title, renamed.duration], ["Look here", 2500]);

  await edit(colleague.token, { timestamp: 2000, duration: 5000 });
  // No file is cut of a range that nobody approved.
  assert.ok((await clipRows(theirs)).every((row) => row.end_ms - row.start_ms === 2500));
  const agreed = await manage("PATCH", `/links/${link.id}`, member.token, agree);
  assert.deepEqual([agreed.status, agreed.body.left_out], [200, 0]);
  assert.equal((await settled(links, token)).items[0].duration, 5000);

  // A user who may share it approves the range by setting it.
  await edit(member.token, { timestamp: 1000, duration: 7000 });
  assert.equal((await settled(links, token)).items[0].duration, 7000);
  await until("the files of the other ranges are gone", async () => {
    const rows = await clipRows(theirs);
    const keys = await keysBelow(`recordings/${recordingId}/clips/`);
    return rows.length === 1 && keys.every((key) => key.startsWith(rows[0].id)) ? true : undefined;
  });
});

test("a public page keeps the approved text until a user who may share the recording writes another", async () => {
  const recordingId = await makeFilm();
  const highlightId = await makeHighlight(recordingId, colleague.token);
  const token = tokenOf(await makeLink(highlightId));
  const [approved] = (await open(token)).body.items;
  const edit = (by: string, text: string) => manage("PATCH", `/highlights/${highlightId}`, by, { text });
  assert.equal((await edit(colleague.token, "Something nobody approved")).status, 200);
  const page = await (await fetch(`${app.url}/s/${token}`)).text();
  assert.doesNotMatch(page, /nobody approved/);
  const { body } = await open(token);
  assert.deepEqual([body.title, body.items[0].title], [approved.title, approved.title]);
  // A change of something else by the recorder publishes no text of another user.
  const tagged = await manage("PATCH", `/highlights/${highlightId}`, member.token, {
    tags: ["demo"],
    duration: 2600,
  });
  assert.equal(tagged.status, 200, tagged.text);
  assert.equal((await open(token)).body.title, approved.title);
  for (const text of ["Something nobody approved", "Approved again"]) {
    assert.equal((await edit(member.token, text)).status, 200);
    const now = (await open(token)).body;
    assert.deepEqual([now.title, now.items[0].title], [text, text]);
  }
});

test("files go with the last link, with the highlight, and with the recording", async () => {
  const recordingId = await makeFilm();
  const [first, second] = [
    await makeHighlight(recordingId, member.token),
    await makeHighlight(recordingId, member.token, 1000, 1000),
  ];
  const link = await makeLink(first);
  const tokens = [tokenOf(link), tokenOf(await makeLink(second))];
  for (const token of tokens) await settled(links, token);
  await manage("DELETE", `/links/${link.id}`, member.token);
  assert.equal((await open(tokens[0] ?? "")).status, 404);
  await until("the file of the first is gone", async () => {
    const keys = await keysBelow(`recordings/${recordingId}/clips/`);
    const [row] = await clipRows(second);
    return keys.length > 0 && keys.every((key) => key.startsWith(row.id)) ? true : undefined;
  });
  await manage("DELETE", `/highlights/${second}`, member.token);
  assert.equal((await open(tokens[1] ?? "")).status, 404);
  await until("all files of clips are gone", async () =>
    (await keysBelow(`recordings/${recordingId}/clips/`)).length === 0 ? true : undefined,
  );

  const third = await makeHighlight(recordingId, member.token, 2000, 1000);
  const token = tokenOf(await makeLink(third));
  await settled(links, token);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
  const { body: receipt } = await manage("DELETE", `/trash/${recordingId}`, member.token);
  assert.equal(receipt.is_complete, true);
  // media, waveform, and of the clip: media, waveform, thumbnail, storyboard and its sheet. The sweep may remove those
  // first, because no link shows a clip of a recording in the trash.
  assert.ok(receipt.removed.objects >= 2 && receipt.removed.objects <= 7, `${receipt.removed.objects}`);
  assert.deepEqual(await keysBelow(`recordings/${recordingId}/`), []);
  assert.equal((await open(token)).status, 404);
});

test("sound becomes a part of sound; a recording without a file shows its words; what can't be cut says so", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const words = await makeHighlight(recordingId, member.token);
  const [item] = (await open(tokenOf(await makeLink(words)))).body.items;
  assert.deepEqual([item.state, item.content_type, item.media_url], ["transcript_only", null, null]);

  const { recordingId: spoken } = await makeRecording(app, member.token);
  await addMedia(app, spoken, { format: "mp3", bytes: fixture("good-cbr.mp3"), durationMs: 12_000 });
  const part = await makeHighlight(spoken, member.token);
  const link = await makeLink(part, member.token, { allow_download: true });
  const [sound] = (await settled(links, tokenOf(link))).items;
  assert.deepEqual([sound.state, sound.content_type, sound.thumbnail_url], ["ready", "audio/mpeg", null]);
  const saved = await fetch(reach(app, sound.download_url));
  assert.match(saved.headers.get("content-disposition") ?? "", /^attachment; filename="Look\.mp3"/);

  const { recordingId: broken } = await makeRecording(app, member.token);
  await addMedia(app, broken, { format: "mp4", bytes: Buffer.from("no film"), durationMs: 12_000 });
  const bad = await makeHighlight(broken, member.token);
  const badLink = await makeLink(bad);
  const [failed] = (await settled(links, tokenOf(badLink))).items;
  assert.deepEqual([failed.state, failed.media_url], ["failed", null]);
  // Approving again retries it.
  await app.store.put(`recordings/${broken}/media.mp4`, film, {});
  await manage("PATCH", `/links/${badLink.id}`, member.token, { agree: true });
  const [mended] = (await settled(links, tokenOf(badLink))).items;
  assert.equal(mended.state, "ready");
});

test("a part whose job was lost is cut all the same, and what a killed worker left behind is removed", async () => {
  const recordingId = await makeFilm();
  const highlightId = await makeHighlight(recordingId, member.token);
  const link = await makeLink(highlightId);
  await settled(links, tokenOf(link));
  const [{ id }] = await clipRows(highlightId);
  // As after kill -9 between the commit of the link and the request for its file.
  await app.db.pool.query("delete from clips where id = $1", [id]);
  const [again] = (await settled(links, tokenOf(link))).items;
  assert.equal(again.state, "ready");
  // As after kill -9 of a worker whose clip nobody needed any more.
  const left = `${clipPrefix(recordingId, crypto.randomUUID())}media.mp4`;
  await app.store.put(left, Buffer.from("left"), {});
  await removeOrphans(app.db, app.store, { warn: () => {} } as never);
  assert.equal(await app.store.head(left), null);
  const kept = await keysBelow(`recordings/${recordingId}/`);
  assert.ok(kept.includes("media.mp4") && kept.some((key) => key.startsWith("clips/")));
  assert.equal((await fetch(reach(app, again.media_url))).status, 200);
  // As after a job that was lost while it ran.
  await app.db.pool.query(
    "update clips set state = 'preparing', created_at = now() - interval '5 minutes' where highlight_id = $1",
    [highlightId],
  );
  assert.equal((await open(tokenOf(link))).body.items[0].state, "preparing");
  assert.equal((await settled(links, tokenOf(link))).items[0].state, "ready");
});
