import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../test/support/factories.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { neutralPicture, tileAt } from "./picture.ts";

const app = await startTestApp();
const workspace = await makeWorkspace(app.db);
const token = workspace.member.token;

interface Made {
  readonly recordingId: string;
  readonly highlightId: string;
  readonly url: string;
}

async function makeHighlight(timestamp: number): Promise<Made> {
  const { recordingId } = await makeRecording(app, token);
  const { body } = await call(
    app,
    "POST",
    `/_/api/v1/recordings/${recordingId}/highlights`,
    { text: "Look", timestamp, duration: 500 },
    { token, version: null },
  );
  return {
    recordingId,
    highlightId: body.id,
    url: body.thumbnail_url.replace("http://parley.test", app.url),
  };
}

const tile = { tile_width: 16, tile_height: 8, columns: 2, rows: 2, interval_ms: 1000 };
const levels = [30, 70, 110, 150, 190, 230];

/** Six tiles of one grey each on two sheets, and a white thumbnail. */
async function addPictures(recordingId: string, parts: { sheets: boolean }): Promise<void> {
  const grey = (level: number, width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: { r: level, g: level, b: level } } });
  const put = (name: string, body: Buffer) => app.store.put(recordingObjectKey(recordingId, name), body);
  for (const [sheet, from] of [0, 4].entries()) {
    const tiles = levels.slice(from, from + 4);
    const inputs = await Promise.all(
      tiles.map(async (level, i) => ({
        input: await grey(level, 16, 8).png().toBuffer(),
        left: (i % 2) * 16,
        top: Math.floor(i / 2) * 8,
      })),
    );
    const height = Math.ceil(tiles.length / 2) * 8;
    const picture = await grey(0, 32, height).composite(inputs).jpeg({ quality: 95 }).toBuffer();
    if (parts.sheets) await put(`storyboard-${sheet}.jpg`, picture);
  }
  const index = {
    version: 1,
    ...tile,
    count: 6,
    sheets: ["storyboard-0.jpg", "storyboard-1.jpg"],
    times_ms: [],
  };
  await put("storyboard.json", Buffer.from(JSON.stringify(index)));
  await put("thumbnail.jpg", await grey(255, 64, 32).jpeg().toBuffer());
  await app.db.pool.query("update recordings set has_thumbnail = true where id = $1", [recordingId]);
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', true)",
    [recordingId],
  );
}

async function fetchPicture(url: string) {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "image/jpeg");
  const bytes = Buffer.from(await response.arrayBuffer());
  const { width, height, format } = await sharp(bytes).metadata();
  assert.equal(format, "jpeg");
  const [first = 0] = await sharp(bytes).resize(1, 1).raw().toBuffer();
  return { width, height, level: first, bytes, headers: response.headers };
}

test("picture: of a video, the tile of its storyboard that is nearest to the start", async () => {
  for (const [timestamp, expected] of [
    [0, 30],
    [1400, 70],
    [1600, 110],
    [3000, 150],
    [4000, 190],
    [11_000, 230],
  ] as const) {
    const { recordingId, url } = await makeHighlight(timestamp);
    await addPictures(recordingId, { sheets: true });
    const { width, height, level } = await fetchPicture(url);
    assert.deepEqual([width, height], [16, 8]);
    assert.ok(Math.abs(level - expected) < 8, `${timestamp}: ${level} instead of ${expected}`);
  }
});

test("picture: without the sheet that of the recording, without any a neutral one", async () => {
  const { recordingId, url } = await makeHighlight(0);
  const neutral = await fetchPicture(url);
  assert.deepEqual([neutral.width, neutral.height], [320, 180]);
  assert.ok(neutral.bytes.equals(neutralPicture));
  await addPictures(recordingId, { sheets: false });
  const whole = await fetchPicture(url);
  assert.deepEqual([whole.width, whole.height], [64, 32]);
  await app.store.put(recordingObjectKey(recordingId, "storyboard-0.jpg"), Buffer.from("no picture"));
  assert.equal((await fetchPicture(url)).width, 64);
  await app.store.delete(recordingObjectKey(recordingId, "thumbnail.jpg"));
  assert.ok((await fetchPicture(url)).bytes.equals(neutralPicture));
});

test("picture: HEAD, a part of it, and a copy that is still true", async () => {
  const { url } = await makeHighlight(0);
  const head = await fetch(url, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-length")], [200, String(neutralPicture.length)]);
  const part = await fetch(url, { headers: { range: "bytes=2-9" } });
  assert.equal(part.status, 206);
  assert.ok(Buffer.from(await part.arrayBuffer()).equals(neutralPicture.subarray(2, 10)));
  const again = await fetch(url, { headers: { "if-none-match": head.headers.get("etag") ?? "" } });
  assert.equal(again.status, 304);
});

test("picture: the address is good for its highlight alone, not for its recording, and gone with it", async () => {
  const { url, highlightId, recordingId } = await makeHighlight(0);
  const other = await makeHighlight(0);
  const status = async (address: string) => (await fetch(address)).status;
  assert.equal(await status(url.replace(highlightId, other.highlightId)), 403);
  assert.equal(await status(url.replace(/signature=\w+/, "signature=")), 403);
  assert.equal(await status(url.replace(/viewer=[^&]+/, `viewer=${highlightId}`)), 403);
  assert.equal(await status(url.replace(highlightId, "nonsense")), 404);
  const ofRecording = url.replace("/highlights/", "/recordings/");
  assert.equal(await status(ofRecording), 404);
  assert.equal(await status(ofRecording.replace(highlightId, recordingId)), 403);
  await call(app, "DELETE", `/_/api/v1/highlights/${highlightId}`, undefined, { token, version: null });
  assert.equal(await status(url), 404);
});

test("tile: counted along the lines, then the sheets, and never past the last", () => {
  const storyboard = { ...tile, count: 6 };
  const size = { width: 16, height: 8 };
  for (const [timeMs, place] of [
    [0, { sheet: 0, left: 0, top: 0 }],
    [1000, { sheet: 0, left: 16, top: 0 }],
    [2000, { sheet: 0, left: 0, top: 8 }],
    [4499, { sheet: 1, left: 0, top: 0 }],
    [4500, { sheet: 1, left: 16, top: 0 }],
    [99_000, { sheet: 1, left: 16, top: 0 }],
  ] as const)
    assert.deepEqual(tileAt(storyboard, timeMs), { ...place, ...size }, String(timeMs));
});
