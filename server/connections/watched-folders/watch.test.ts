import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeWorkspace } from "../../../test/support/factories.ts";
import { writePaddedMedia } from "../../../test/support/padded-media.ts";
import { until } from "../../../test/support/until.ts";
import { makeWav } from "../../../test/support/wav.ts";
import type { ConfigError } from "../../platform/config/config.ts";
import { preflight } from "../../preflight.ts";
import { encodeFile } from "../../processing/media/test/encode.ts";
import { checkWatchedFolder } from "./check.ts";
import { readWatchedFolders } from "./overview.ts";
import { claimFile } from "./queries.ts";

const root = mkdtempSync(join(tmpdir(), "parley-watched-"));
after(() => rmSync(root, { recursive: true, force: true }));
const app = await startTestApp({ env: { PARLEY_WATCH_DIRS: root, PARLEY_WATCH_INTERVAL: "100ms" } });
const { id: workspace, admin, member } = await makeWorkspace(app.db);
const other = await makeWorkspace(app.db);
const team = await makeTeam(app.db, { id: workspace }, [member]);

const at = (...parts: readonly string[]): string => join(root, ...parts);
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/media/${name}`, import.meta.url));

/** Puts a file into the watched folder at once, as a move into it does. */
function put(path: string, content: string | Buffer | { fixture: string; bytes?: number }): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  if (typeof content === "string" || Buffer.isBuffer(content)) writeFileSync(at(path), content);
  else if (content.bytes !== undefined) writePaddedMedia(at(path), content.fixture, content.bytes);
  else copyFileSync(fixture(content.fixture), at(path));
}

const settings = (values: object): string => JSON.stringify({ workspace, owner: member.email, ...values });

interface ListedUpload {
  readonly title: string;
  readonly status: string;
  readonly recording_id: string;
  readonly failure?: { readonly reason: string };
}

async function uploads(token: string): Promise<ListedUpload[]> {
  const { body } = await call(app, "POST", "/uploads", {}, { token });
  return body.uploads;
}

/** The upload of a file once it has ended. */
const ended = (title: string, token = member.token) =>
  until(`${title} has ended`, async () => {
    const found = (await uploads(token)).filter((upload) => upload.title === title);
    const [upload] = found;
    return upload !== undefined && ["success", "failure"].includes(upload.status) && upload;
  });

/** What has become of every file, by state. */
async function states(): Promise<Record<string, number>> {
  const { rows } = await app.db.pool.query<{ state: string; count: number }>(
    "select state, count(*)::integer as count from watched_files group by state",
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

const gone = (path: string) => until(`${path} is gone`, () => !existsSync(at(path)));
/** A file that is removed has a hidden name for a moment. */
const emptied = (path: string) => until(`${path} is empty`, () => readdirSync(at(path)).length === 0);
const there = (path: string) => until(`${path} is there`, () => existsSync(at(path)));

test("a file becomes a recording with the folder's settings, its transcript and its chat, and is moved", async () => {
  put("sales/parley.json", settings({ team: team.name, tags: ["call"], source: "move" }));
  put("sales/acme/Acme kickoff.vtt", "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ada Lovelace>Hello from Acme.\n");
  put("sales/acme/Acme kickoff.mp4", { fixture: "good-faststart.mp4" });
  put("sales/acme/chat.txt", "10:15:22 From Ada: see https://acme.example");
  const upload = await ended("Acme kickoff");
  assert.equal(upload.status, "success", JSON.stringify(upload));
  const id = upload.recording_id;
  const options = { token: member.token };
  const { body: recording } = await call(
    app,
    "POST",
    `/recordings/${id}`,
    { include: { private_notes: true } },
    options,
  );
  assert.deepEqual(recording.tags, ["call"]);
  assert.deepEqual(
    recording.teams.map(({ id }: { id: string }) => id),
    [team.id],
  );
  assert.equal(recording.recorders[0].email, member.email);
  const { body: entries } = await call(app, "GET", `/recordings/${id}/transcript`, undefined, options);
  assert.deepEqual(
    [entries[0].speaker.name ?? entries[0].speaker, entries[0].text],
    ["Ada Lovelace", "Hello from Acme."],
  );
  await emptied("sales/acme");
  assert.deepEqual(readdirSync(at("parley-imported/sales/acme")).sort(), [
    "Acme kickoff.mp4",
    "Acme kickoff.vtt",
    "chat.txt",
  ]);
  const { body: noted } = await call(
    app,
    "POST",
    `/recordings/${id}`,
    { include: { private_notes: true } },
    options,
  );
  assert.match(noted.private_notes.text, /acme\.example/);
});

test("a copy of a file is recognized by its content, also when it is renamed", async () => {
  put("same/parley.json", settings({}));
  put("same/First.mp3", { fixture: "good-cbr.mp3" });
  assert.equal((await ended("First")).status, "success");
  put("same/Copy.mp3", { fixture: "good-cbr.mp3" });
  await until("the copy is done", async () => {
    const { rows } = await app.db.pool.query(
      "select 1 from watched_files where state = 'done' group by content_hash having count(*) = 2",
    );
    return rows.length === 1;
  });
  assert.deepEqual(
    (await uploads(member.token)).filter(({ title }) => title === "Copy"),
    [],
  );
  assert.ok(existsSync(at("same/First.mp3")));
  put("same/deleted/parley.json", settings({ source: "delete" }));
  put("same/deleted/Other copy.mp3", { fixture: "good-cbr.mp3" });
  await gone("same/deleted/Other copy.mp3");
  assert.deepEqual(
    (await uploads(member.token)).filter(({ title }) => /copy/i.test(title)),
    [],
  );
});

test("an error is written beside its file and listed under Uploads; deleting it tries again, a new file as well", async () => {
  put("broken/parley.json", settings({ source: "delete" }));
  put("broken/Noise.mp4", "this is no video, but text");
  const upload = await ended("Noise");
  assert.equal(upload.status, "failure");
  await there("broken/Noise.mp4.error.txt");
  const text = readFileSync(at("broken/Noise.mp4.error.txt"), "utf8");
  assert.ok(text.includes(upload.failure?.reason ?? ""), text);
  assert.match(text, /delete this file/);
  rmSync(at("broken/Noise.mp4.error.txt"));
  await there("broken/Noise.mp4.error.txt");
  assert.equal((await uploads(member.token)).filter(({ title }) => title === "Noise").length, 2);
  put("broken/Noise.mp4", { fixture: "good-faststart.mp4", bytes: 40_002 });
  await gone("broken/Noise.mp4");
  await gone("broken/Noise.mp4.error.txt");

  put("broken/Empty.mp4", "");
  const empty = await ended("Empty.mp4");
  assert.match(empty.failure?.reason ?? "", /Empty\.mp4 is empty\. Copy the file again/);
  put("broken/Subtitles.vtt", "WEBVTT\n\n00:05.000 --> 00:01.000\nBackwards\n");
  put("broken/Subtitles.mp4", { fixture: "good-faststart.mp4", bytes: 40_003 });
  assert.match(
    (await ended("Subtitles.mp4")).failure?.reason ?? "",
    /Subtitles\.vtt is not a valid transcript/,
  );
  assert.ok(existsSync(at("broken/Subtitles.mp4")));
});

test("a transcript that can be read in part is used, kept, and its error file says what is missing", async () => {
  put("part/parley.json", settings({ source: "delete" }));
  const whisper = {
    segments: [
      { start: -0.02, end: 2, text: " Hello", speaker: null },
      { start: null, end: 3, text: " Lost" },
    ],
  };
  put("part/Whisper.json", JSON.stringify(whisper));
  put("part/Whisper.mp4", { fixture: "good-faststart.mp4", bytes: 40_004 });
  put("part/Info.json", JSON.stringify({ title: "no transcript" }));
  put("part/Info.mp4", { fixture: "good-faststart.mp4", bytes: 40_005 });
  assert.equal((await ended("Whisper")).status, "success");
  assert.equal((await ended("Info")).status, "success");
  await gone("part/Whisper.mp4");
  await gone("part/Info.mp4");
  const partly = readFileSync(at("part/Whisper.json.error.txt"), "utf8");
  assert.match(partly, /1 lines? of Whisper\.json.*entry 2 has no “start”/s);
  assert.match(readFileSync(at("part/Info.json.error.txt"), "utf8"), /without Info\.json.*no transcript/s);
  assert.ok(existsSync(at("parley-imported/part/Whisper.json")));
  assert.ok(existsSync(at("parley-imported/part/Info.json")));
});

test("the content decides about files without a known extension; what is not a recording is listed, and half-finished files are left alone", async () => {
  put("plain/Town hall.mp4.part", { fixture: "good-faststart.mp4" });
  put("plain/notes.pdf", "%PDF-1.4");
  put("plain/Town hall.vtt", "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ada Lovelace>Hello, town.\n");
  put("plain/parley.json", settings({ source: "leave" }));
  put("plain/Town hall", { fixture: "good-faststart.mp4", bytes: 700_000 });
  const upload = await ended("Town hall");
  assert.equal(upload.status, "success", JSON.stringify(upload));
  const { body: entries } = await call(
    app,
    "GET",
    `/recordings/${upload.recording_id}/transcript`,
    undefined,
    {
      token: member.token,
    },
  );
  assert.equal(entries[0].text, "Hello, town.");
  const list = await until("the list is written", () => {
    const path = at("not-recordings.error.txt");
    return existsSync(path) && readFileSync(path, "utf8");
  });
  assert.match(list, /not recordings:\n\nplain\/notes\.pdf: a PDF document\n$/);
  assert.ok(!existsSync(at("plain/notes.pdf.error.txt")));
  const [found] = await readWatchedFolders(app.db, [root]);
  assert.deepEqual(
    [found?.skipped, found?.failed_files.filter(({ path }) => path?.startsWith("plain/"))],
    [1, []],
  );
  put("plain/notes.pdf", makeWav(20_000, [{ startMs: 0, endMs: 5000, hz: 400 }]));
  assert.equal((await ended("notes")).status, "success");
  await gone("not-recordings.error.txt");
});

test("wrong settings of a folder are reported with the field, and its files are imported once they are corrected", async () => {
  put("strict/Later.mp3", { fixture: "good-44100.mp3" });
  for (const [content, words] of [
    [
      settings({ sorce: "move" }),
      /sorce is not a setting; the settings are workspace, owner, team, tags, audio_tracks, source/,
    ],
    [settings({ source: "burn" }), /source must be "leave", "move" or "delete"/],
    [settings({ owner: other.member.email }), /owner .* is not an active admin or member/],
    [settings({ team: "Nobody" }), /team Nobody is not a team of the workspace/],
    ["{", /is not valid JSON/],
  ] as const) {
    put("strict/parley.json", content);
    await until(`${words} is reported`, () => {
      const path = at("strict/parley.json.error.txt");
      return existsSync(path) && words.test(readFileSync(path, "utf8"));
    });
  }
  const reasons = (await uploads(admin.token)).map(({ failure }) => failure?.reason ?? "");
  assert.ok(
    reasons.some((reason) => reason.includes("team Nobody")),
    reasons.join("\n"),
  );
  put("strict/parley.json", settings({}));
  // The title that is stored in the file.
  assert.equal((await ended("Tone")).status, "success");
  await gone("strict/parley.json.error.txt");
});

test("a deleted recording is not imported again from its file, and a source without a recording stays", async () => {
  const isOpen = async () => {
    const { rows } = await app.db.pool.query("select 1 from watched_files where path = 'again/Once.mp4'");
    return rows.length > 0;
  };
  put("again/parley.json", settings({}));
  put("again/Once.mp4", { fixture: "good-faststart.mp4", bytes: 40_011 });
  const { recording_id: id } = await ended("Once");
  await app.db.pool.query("update workspaces set trash_days = 30 where id = $1", [workspace]);
  const remove = await fetch(`${app.url}/_/api/v1/recordings/${id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${member.token}` },
  });
  assert.ok(remove.ok, await remove.text());
  put("again/sorted/parley.json", settings({ source: "delete" }));
  put("again/sorted/Restored.mp4", { fixture: "good-faststart.mp4", bytes: 40_011 });
  await there("again/sorted/Restored.mp4.error.txt");
  assert.match(readFileSync(at("again/sorted/Restored.mp4.error.txt"), "utf8"), /is in the trash/);
  assert.ok(existsSync(at("again/sorted/Restored.mp4")));

  await app.db.pool.query("delete from uploads where recording_id = $1", [id]);
  await app.db.pool.query("delete from recordings where id = $1", [id]);
  rmSync(at("again/sorted"), { recursive: true });
  put("again/Once.vtt", "WEBVTT\n\n00:01.000 --> 00:03.000\nWords that came later\n");
  await until("the file is known to have changed", isOpen);
  await until("the changed file has ended", async () => !(await isOpen()));
  assert.deepEqual(
    (await uploads(member.token)).filter(({ title }) => title === "Once"),
    [],
  );
});

test('with "source": "delete", files whose content is not in the recording are moved', async () => {
  put("extra/parley.json", settings({ source: "delete" }));
  put("extra/call/video7654321.mp4", { fixture: "good-faststart.mp4", bytes: 40_013 });
  put("extra/call/audio7654321.m4a", { fixture: "onestep-aac.m4a" });
  put("extra/call/video7654321.vtt", "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Ada>Hello\n");
  put("extra/call/video7654321.info.json", '{"kept": true}');
  await emptied("extra/call");
  assert.deepEqual(readdirSync(at("parley-imported/extra/call")).sort(), [
    "audio7654321.m4a",
    "video7654321.info.json",
  ]);
});

test("a file is claimed quickly among thousands that wait for a busy workspace", async () => {
  const { id } = await makeWorkspace(app.db);
  const folder = "/not/watched/here";
  await app.db.pool.query(
    `insert into watched_files (workspace_id, path_hash, folder, path, mark, state, next_at)
     select $1, sha256(n::text::bytea), $2, n, '', case when n <= 16 then 'pending' else 'ready' end,
       clock_timestamp() - n * interval '1 ms' from generate_series(1, 8000) n`,
    [id, folder],
  );
  const began = performance.now();
  const claimed = await claimFile(app.db.kysely, [folder]);
  assert.equal(claimed?.state, "pending");
  await app.db.pool.query(
    "update watched_files set next_at = 'infinity' where folder = $1 and state = 'pending'",
    [folder],
  );
  assert.equal(await claimFile(app.db.kysely, [folder]), undefined);
  assert.ok(performance.now() - began < 3000);
  // Recordings whose source can't be moved keep nobody waiting.
  await app.db.pool.query("update watched_files set error = 'busy' where folder = $1 and state = 'pending'", [
    folder,
  ]);
  assert.equal((await claimFile(app.db.kysely, [folder]))?.state, "ready");
  await app.db.pool.query("delete from watched_files where folder = $1", [folder]);
});

test("links are not followed, and hidden files are left alone", async () => {
  const outside = mkdtempSync(join(tmpdir(), "parley-outside-"));
  after(() => rmSync(outside, { recursive: true }));
  copyFileSync(fixture("good-faststart.mp4"), join(outside, "Secret.mp4"));
  put("links/parley.json", settings({}));
  symlinkSync(join(outside, "Secret.mp4"), at("links/Linked.mp4"));
  symlinkSync(outside, at("links/folder"));
  put("links/.Partial.mp4", { fixture: "good-faststart.mp4", bytes: 40_005 });
  put("links/Real.mp3", { fixture: "good-vbr-no-xing.mp3" });
  assert.equal((await ended("Real")).status, "success");
  const titles = (await uploads(member.token)).map(({ title }) => title);
  for (const title of ["Linked", "Secret", ".Partial", "Partial"]) assert.ok(!titles.includes(title));
});

test("Zoom's tracks of the speakers name them", async () => {
  const folder = "zoom/2026-03-04 10.15.22 Planning";
  put("zoom/parley.json", settings({}));
  put(`${folder}/zoom_0.mp4`, { fixture: "good-faststart.mp4", bytes: 40_007 });
  put(`${folder}/audioAdaLovelace11234567.m4a`, { fixture: "onestep-aac.m4a" });
  put(`${folder}/audioGrace21234567.m4a`, { fixture: "onestep-aac.m4a" });
  const upload = await ended("Planning");
  assert.equal(upload.status, "success", JSON.stringify(upload));
  const options = { token: member.token };
  const { body } = await call(
    app,
    "POST",
    `/recordings/${upload.recording_id}`,
    { include: { participants: true } },
    options,
  );
  assert.deepEqual(body.participants.map(({ name }: { name: string }) => name).sort(), [
    "Ada Lovelace",
    "Grace",
  ]);
  assert.equal(body.source, "zoom");
  assert.ok(await app.store.head(`recordings/${upload.recording_id}/speech.webm`));
});

test("with the setting, each of several audio tracks in a file is a speaker", async () => {
  put("tracks/parley.json", settings({ audio_tracks: "speakers" }));
  const track = (title: string, from: number) => ({
    ...{ codec: "aac", title },
    sounds: (sec: number) => sec >= from && sec < from + 3,
  });
  encodeFile(join(root, ".tracks"), { format: "matroska", audio: [track("Ada", 0), track("Ben", 6)] });
  renameSync(join(root, ".tracks"), at("tracks/Two tracks.mkv"));
  const upload = await ended("Two tracks");
  assert.equal(upload.status, "success", JSON.stringify(upload));
  const { rows } = await app.db.pool.query(
    "select speaker_tracks from recording_media where recording_id = $1",
    [upload.recording_id],
  );
  assert.deepEqual(rows, [{ speaker_tracks: ["Ada", "Ben"] }]);
});

test("the file of a recording that was cut off is imported, and its error file says how much was kept", async () => {
  put("cut/parley.json", settings({ source: "move" }));
  encodeFile(join(root, ".cut"), {
    ...{ format: "mp4", seconds: 16, audio: [{ codec: "aac" }] },
    video: { codec: "libx264", keyframeSec: 1 },
    options: { movflags: "frag_keyframe+empty_moov" },
  });
  const bytes = readFileSync(join(root, ".cut"));
  put("cut/Crashed.mp4", bytes.subarray(0, Math.floor(bytes.length * 0.8)));
  assert.equal((await ended("Crashed")).status, "success");
  await gone("cut/Crashed.mp4");
  const path = at("cut/Crashed.mp4.error.txt");
  await until("the error file is there", async () => existsSync(path));
  assert.match(
    readFileSync(path, "utf8"),
    /was imported into Parley\.\s+The file ends early: 1[1-3] seconds/,
  );
});

test("at the end every file has an outcome", async () => {
  await until("no file waits", async () => {
    const { waiting = 0, ready = 0, pending = 0 } = await states();
    return waiting + ready + pending === 0;
  });
  assert.deepEqual(Object.keys(await states()).sort(), ["done", "failed"]);
});

test("a folder that can't be watched is refused with what to do", async () => {
  const refused = (location: string, words: RegExp) =>
    assert.rejects(
      checkWatchedFolder({ location, workspaceId: null }, app.config),
      (error: ConfigError & { remedy: string }) => {
        assert.match(`${error.message} ${error.remedy}`, words);
        return true;
      },
    );
  await refused(at("nowhere"), /does not exist\. Create it, mount its volume/);
  await refused(at("same/First.mp3"), /is not a folder/);
  await refused(app.config.dataDir, /contains the data folder, or is in it/);
  await checkWatchedFolder({ location: root, workspaceId: null }, app.config);
  const watchDirs = [{ location: at("nowhere"), workspaceId: null }];
  await assert.rejects(
    preflight({ ...app.config, role: "worker", databaseUrl: "postgres://unused", watchDirs }),
    /invalid setting: PARLEY_WATCH_DIRS: .*nowhere does not exist\. Create it/,
  );
});
