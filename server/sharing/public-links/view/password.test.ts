import assert from "node:assert/strict";
import { test } from "node:test";
import { addMedia, fixture, reach, startLinks } from "../test/public-links.ts";

const links = await startLinks();
const { app, workspace, manage, open, makePublic } = links;
const { member } = workspace;

const unlock = (token: string, password: string) =>
  manage("POST", `/shared/${token}/unlock`, null, { password });

/** Forgets what was guessed so far: all tests come from one place. */
const forgive = () => app.db.pool.query("delete from sign_in_failures");

async function makeLocked(password = "open sesame") {
  const made = await makePublic({ title: "Zaubernuss" });
  await addMedia(app, made.recordingId, {
    format: "mp4",
    bytes: fixture("good-faststart.mp4"),
    durationMs: 12_000,
  });
  const path = `/links/${made.linkId}`;
  const answer = await manage("PATCH", path, member.token, { password, allow_download: true });
  assert.deepEqual([answer.status, answer.body.has_password], [200, true]);
  return { ...made, path };
}

test("before the password is entered nothing is revealed; afterwards everything opens, including file URLs", async () => {
  const { token } = await makeLocked();
  const file = `items/recording/files/media.mp4`;
  for (const path of ["", "/items/recording/transcript", `/${file}`, "/items/recording/files/captions.vtt"])
    for (const access of ["", "?access=", "?access=1.2", `?access=${Date.now() + 1e9}.${"0".repeat(64)}`]) {
      const answer = await manage("GET", `/shared/${token}${path}${access}`, null);
      assert.deepEqual([answer.status, answer.body?.error], [401, "password_required"], path + access);
      assert.doesNotMatch(answer.text, /Zaubernuss/);
    }
  const { status, body } = await unlock(token, "open sesame");
  assert.equal(status, 200);
  const hours = (Date.parse(body.expires_datetime) - Date.now()) / 3_600_000;
  assert.ok(hours > 11.9 && hours <= 12, String(hours));
  const view = (await open(token, `?access=${body.access}`)).body;
  assert.equal(view.title, "Zaubernuss");
  const [item] = view.items;
  for (const url of [item.media_url, item.transcript_url, item.captions_url, item.download_url]) {
    assert.ok(url.endsWith(`?access=${body.access}`), url);
    assert.equal((await fetch(reach(app, url))).status, 200, url);
  }
  const other = await makeLocked();
  assert.equal((await open(other.token, `?access=${body.access}`)).status, 401);
});

test("a new password ends what the old one opened, and taking it away asks for none", async () => {
  await forgive();
  const { token, path } = await makeLocked();
  const { access } = (await unlock(token, "open sesame")).body;
  assert.equal((await open(token, `?access=${access}`)).status, 200);
  // Setting the same password again ends access as well.
  await manage("PATCH", path, member.token, { password: "another word" });
  assert.equal((await open(token, `?access=${access}`)).status, 401);
  const old = await unlock(token, "open sesame");
  assert.deepEqual([old.status, old.body.error], [401, "password_wrong"]);
  assert.equal((await unlock(token, "another word")).status, 200);
  const kept = await manage("PATCH", path, member.token, { allow_download: false });
  assert.equal(kept.body.has_password, true);
  const removed = await manage("PATCH", path, member.token, { password: null });
  assert.equal(removed.body.has_password, false);
  assert.equal((await open(token)).status, 200);
  const short = await manage("PATCH", path, member.token, { password: "abc" });
  assert.deepEqual([short.status, short.body.violations[0].pointer], [400, "/password"]);
});

test("guessing is slowed down: after a few guesses also the right password has to wait", async () => {
  await forgive();
  const { token } = await makeLocked();
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await unlock(token, `guess ${i}`)).status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
  const right = await unlock(token, "open sesame");
  assert.deepEqual([right.status, right.body.error], [429, "rate_limited"]);
  assert.ok(Number(right.headers.get("retry-after")) >= 1);
  // Nobody else's link is harder to open for it.
  assert.equal((await unlock((await makeLocked()).token, "open sesame")).status, 200);
  await forgive();
  assert.equal((await unlock(token, "open sesame")).status, 200);
});

test("the password is kept hashed, and appears nowhere", async () => {
  await forgive();
  const { linkId, recordingId } = await makeLocked("a word to be searched for");
  const { rows } = await app.db.pool.query("select * from public_links where id = $1", [linkId]);
  assert.match(rows[0].password_hash, /^\$argon2id\$/);
  assert.doesNotMatch(JSON.stringify(rows), /searched for/);
  const listed = await manage("GET", `/recordings/${recordingId}/links`, member.token);
  assert.doesNotMatch(listed.text, /argon2|searched for/);
});
